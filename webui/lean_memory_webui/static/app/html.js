// The one way in which markup is made: text is always text, never HTML.

import { h } from 'preact';
import htm from 'htm';

export const html = htm.bind(h);
