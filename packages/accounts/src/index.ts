export { ACCOUNTS_SETTINGS, type AccountsConfig } from './config.js';
export type { AccountListener, AccountReport } from './domain/account/account-reports.js';
export { ACCOUNTS_API } from './routes/description.js';
export {
  type AccountsNeeds,
  createAccounts,
  type PlatformKeyring,
} from './service.js';
