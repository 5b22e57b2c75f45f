export { DatabasePage } from './database-page.js';
export { DatabasesPage } from './databases-page.js';
export { StoragePage } from './storage-page.js';
export { TablePage } from './table-page.js';
