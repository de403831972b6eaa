// Looking things up, again whenever the service says that something changed, without taking away what is shown meanwhile.

import { useEffect, useRef, useState } from 'preact/hooks';
import { pulse } from './service.js';

/** `{data, error, loading}` of `load(signal)`; asked again when `inputs` change or somebody wrote. What was found for other inputs is dropped. */
export function useFound(load, inputs, { keep = false } = {}) {
  const key = JSON.stringify(inputs);
  const [state, put] = useState({ key, data: null, error: null, loading: true });
  const beat = pulse.value;
  useEffect(() => {
    const ending = new AbortController();
    put((held) => ({ ...held, loading: true }));
    load(ending.signal).then(
      (data) => ending.signal.aborted || put({ key, data, error: null, loading: false }),
      (error) => ending.signal.aborted || put((held) => failed(held, key, error)),
    );
    return () => ending.abort();
  }, [key, beat]);
  return state.key === key || keep ? state : { data: null, error: null, loading: true };
}

/** What was found stays where the service cannot be reached for a moment: the frame says so, and it is asked again. */
function failed(held, key, error) {
  const data = held.key === key ? held.data : null;
  return { key, data, error: data !== null && error.kind === 'Unreachable' ? null : error, loading: false };
}

/** How many of `all` are to be drawn by now: a screenful at once, then more and more, so that no key and no scrolling waits for them. */
export function useSteps(all, step = 40) {
  const [count, put] = useState(step);
  useEffect(() => {
    if (count >= all) return undefined;
    const soon = setTimeout(() => put(count + step));
    return () => clearTimeout(soon);
  }, [count, all]);
  return count;
}

/** `kept(key, inputs, draw)` gives what was drawn for a key until an input is another one, so that a long list is not drawn anew for one of its lines. */
export function useKept() {
  const held = useRef(new Map());
  return (key, inputs, draw) => {
    const before = held.current.get(key);
    if (before?.inputs.every((one, at) => one === inputs[at])) return before.drawn;
    const drawn = draw();
    held.current.set(key, { inputs, drawn });
    return drawn;
  };
}

/** A value that follows `given` once it rests for `milliseconds`. */
export function useRested(given, milliseconds = 180) {
  const [value, put] = useState(given);
  useEffect(() => {
    const timer = setTimeout(() => put(given), milliseconds);
    return () => clearTimeout(timer);
  }, [given, milliseconds]);
  return value;
}
