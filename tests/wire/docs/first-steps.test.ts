// Source: the pages of this repository. Every code block does what its page describes, or names the reason why no test runs it.
// CONTRIBUTING.md, "Pages", explains the marks.
import { FIRST_STEPS, tryPages } from './try-pages.js';

tryPages(FIRST_STEPS);
