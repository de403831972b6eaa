// How many proposals wait for the person, for the sidebar.

import { computed } from '@preact/signals';
import { snapshot } from './service.js';

/** In all namespaces; 0 where the service does not say. */
export const waiting = computed(() => (snapshot.value?.upkeep ?? []).reduce((sum, one) => sum + one.pending, 0));
