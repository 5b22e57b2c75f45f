export { AppPage } from './app-page.js';
export { AppsPage } from './apps-page.js';
export { DeliveryPage } from './delivery-page.js';
