export { AppPage } from './app-page.js';
export { AppsPage } from './apps-page.js';
export { ConfigurationPage } from './configuration-page.js';
export { PublishPage } from './publish-page.js';
export { RedrivePage } from './redrive-page.js';
