export { LimitsPage } from './limits-page.js';
export { SimulatePage } from './simulate-page.js';
