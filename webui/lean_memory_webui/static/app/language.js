// What the page says, in the person's language, and dates and numbers the way that language writes them.

import { computed, signal } from '@preact/signals';
import { en as enPages } from './words.en.js';
import { en as enKeeping } from './words.keeping.en.js';
import { zh as zhKeeping } from './words.keeping.zh.js';
import { zh as zhPages } from './words.zh.js';

const CHOSEN = 'lean-memory.language';
const en = { ...enPages, ...enKeeping };
const WORDS = { en, zh: { ...zhPages, ...zhKeeping } };

/** `en`, `zh`, or empty for the browser's own. */
export const chosen = signal(localStorage.getItem(CHOSEN) ?? '');
export const language = computed(() => chosen.value || (navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'));
/** Writers of dates and numbers by locale and kind: making one takes longer than writing a hundred with it. */
const writers = new Map();
/** One English form everywhere, `3 Jul 2026`: a browser's own order of day and month would be read two ways. */
const locale = computed(() => (language.value === 'zh' ? 'zh-Hans' : 'en-GB'));

export function choose(code) {
  chosen.value = code;
  if (code) localStorage.setItem(CHOSEN, code);
  else localStorage.removeItem(CHOSEN);
}

/** The sentence of this name; what is given fills it in. */
export function t(name, ...given) {
  const said = WORDS[language.value][name] ?? en[name];
  return typeof said === 'function' ? said(...given) : said;
}

/** The sentence of this name, or what was given where there is none. */
export const named = (name, otherwise) => (en[name] === undefined ? otherwise : t(name));

export const percent = (share) => writer(Intl.NumberFormat, { style: 'percent' }).format(share);
export const number = (value) => writer(Intl.NumberFormat, {}).format(value);
export const day = (time) => shown(time, { dateStyle: 'medium' });
/** A day as a date field holds it, `2026-07-03`, in words. */
export const dayOf = (date) => day(new Date(`${date}T12:00`).getTime());
export const clock = (time) => shown(time, { timeStyle: 'short' });
export const dayAndTime = (time) => shown(time, { dateStyle: 'medium', timeStyle: 'short' });
export const longDay = (time) => shown(time, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });

/** Whom a fact is about, as the person calls it. */
export function nameOf(entity) {
  if (entity === 'user') return t('you');
  return entity.startsWith("user's ") ? t('your', entity.slice(7)) : entity;
}

/** How long ago, in words. */
export function ago(time, now = Date.now()) {
  const seconds = Math.round((time - now) / 1000);
  const [size, unit] = [[60, 'second'], [3600, 'minute'], [86_400, 'hour'], [2_592_000, 'day'], [31_536_000, 'month'], [Infinity, 'year']].find(([limit]) => Math.abs(seconds) < limit);
  const one = { second: 1, minute: 60, hour: 3600, day: 86_400, month: 2_592_000, year: 31_536_000 }[unit];
  if (size === 60) return t('just_now');
  return writer(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(Math.trunc(seconds / one), unit);
}

/** A stretch of time in words, from seconds. */
export function duration(seconds) {
  const [unit, one] = seconds < 90 ? ['second', 1] : seconds < 5400 ? ['minute', 60] : ['hour', 3600];
  return writer(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 }).format(seconds / one);
}

/** A size in bytes as people read it. */
export function size(bytes) {
  const [unit, one] = bytes < 1_000_000 ? ['kilobyte', 1000] : bytes < 1_000_000_000 ? ['megabyte', 1_000_000] : ['gigabyte', 1_000_000_000];
  return writer(Intl.NumberFormat, { style: 'unit', unit, maximumFractionDigits: bytes < 10 * one ? 1 : 0 }).format(bytes / one);
}

function shown(time, how) {
  return writer(Intl.DateTimeFormat, how).format(time);
}

function writer(Kind, how) {
  const name = `${locale.value} ${Kind.name} ${JSON.stringify(how)}`;
  const held = writers.get(name) ?? new Kind(locale.value, how);
  writers.set(name, held);
  return held;
}
