// Light or dark: the system's choice, unless the person made one.

import { signal } from '@preact/signals';

const CHOSEN = 'lean-memory.theme';

/** `light`, `dark`, or empty for the system's. */
export const theme = signal(localStorage.getItem(CHOSEN) ?? '');

export function wear(name = theme.value) {
  theme.value = name;
  if (name) {
    localStorage.setItem(CHOSEN, name);
    document.documentElement.dataset.theme = name;
  } else {
    localStorage.removeItem(CHOSEN);
    delete document.documentElement.dataset.theme;
  }
}
