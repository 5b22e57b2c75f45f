export { AccountKeysPage } from './account-keys-page.js';
export { AccountPage } from './account-page.js';
export { AccountsPage } from './accounts-page.js';
export { PlatformSettingsPage } from './platform-settings-page.js';
export { TestClocksPage } from './test-clocks-page.js';
