export { ACCOUNTS_SETTINGS, type AccountsConfig } from './config.js';
export type { AccountListener } from './domain/account/account-reports.js';
export { ACCOUNTS_API } from './routes/description.js';
export { type AccountsDeps, checkAccountsConfig, createAccounts } from './service.js';
export { checkKeyFile } from './storage/keys/key-file.js';
