// Source: the pages of this repository. Every code block does what its page describes, or names the reason why no test runs it.
// CONTRIBUTING.md, "Pages", explains the marks.
import { SERVICES, tryPages } from './try-pages.js';

tryPages(SERVICES);
