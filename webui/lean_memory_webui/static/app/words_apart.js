// Which words of two texts differ.

import { diffWords } from 'diff/word';
import { useMemo } from 'preact/hooks';
import { html } from './html.js';

const segmenter = 'Segmenter' in Intl ? new Intl.Segmenter(undefined, { granularity: 'word' }) : undefined;
const LONGEST = 4000;

/** `text` with the words marked that `other` lacks; `as` is how they are marked, `ins` or `del`. The text itself is whole. */
export function Marked({ text, other, as }) {
  const parts = useMemo(() => apart(text, other), [text, other]);
  return html`<span dir="auto">${parts.map((part, at) => (part.added ? html`<${Mark} key=${at} text=${part.value} as=${as} />` : part.value))}</span>`;
}

function apart(text, other) {
  if (text.length > LONGEST || other.length > LONGEST) return [{ value: text }];
  return diffWords(other, text, segmenter && { intlSegmenter: segmenter }).filter((part) => !part.removed);
}

/** A stretch of words that is marked; the spaces around it are not. */
function Mark({ text, as }) {
  const [, before, words, after] = /^(\s*)([^]*?)(\s*)$/.exec(text);
  return html`${before}<${as}>${words}</${as}>${after}`;
}
