// Source: the pages of this repository: every block of code does what its page says, or says why no test runs it.
// The marks are explained in CONTRIBUTING.md, "Pages".
import { FIRST_STEPS, tryPages } from './try-pages.js';

tryPages(FIRST_STEPS);
