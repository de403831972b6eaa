// How many proposals wait for the person, for the sidebar.

import { computed } from '@preact/signals';
import { snapshot } from './service.js';

/** How many wait in a namespace; 0 where the service does not say. */
export const pendingIn = (name) => snapshot.value?.upkeep?.find((one) => one.namespace === name)?.pending ?? 0;

/** How many wait in all namespaces together. */
export const waiting = computed(() => (snapshot.value?.upkeep ?? []).reduce((sum, one) => sum + one.pending, 0));
