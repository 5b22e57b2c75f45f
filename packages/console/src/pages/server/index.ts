export { QueriesPage } from './queries-page.js';
export { ServerPage } from './server-page.js';
export { TokensPage } from './tokens-page.js';
export { UsersPage } from './users-page.js';
