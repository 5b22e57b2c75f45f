export { CachesPage } from './caches-page.js';
export { TriggerPage } from './trigger-page.js';
export { TriggersPage } from './triggers-page.js';
