export { CachesPage } from './caches-page.js';
export { TriggersPage } from './triggers-page.js';
