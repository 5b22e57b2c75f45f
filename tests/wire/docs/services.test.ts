// Source: the pages of this repository: every block of code does what its page says, or says why no test runs it.
// The marks are explained in CONTRIBUTING.md, "Pages".
import { SERVICES, tryPages } from './try-pages.js';

tryPages(SERVICES);
