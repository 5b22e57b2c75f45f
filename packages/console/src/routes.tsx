import { noteMove } from '@plinth/console-core/lib/opened-from.js';
import { noteDatabase } from '@plinth/console-core/lib/storage/last-database.js';
import {
  type AsyncRouteComponent,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { type ComponentType, useDeferredValue } from 'react';
import { NotFound } from './components/shell/not-found.js';
import { PageFailure } from './components/shell/page-failure.js';
import { Shell } from './components/shell/shell.js';
import { HomePage } from './pages/home/home-page.js';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** Keeps all values of an address as strings, including unknown ones. */
const asText = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search).map(([name, value]) => [name, value === undefined ? '' : String(value)]),
  );

const route = (path: string, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    validateSearch: asText,
    component: inSlices(lazyRouteComponent(load as never, name as never)),
  });

/** Renders a page after its frame, in short slices, so that clicks in between are handled. */
function inSlices(page: AsyncRouteComponent<unknown>): AsyncRouteComponent<unknown> {
  const Page = page as ComponentType;
  // biome-ignore lint/correctness/noComponentHookFactories: once a route, when the console starts.
  const Sliced = () => (useDeferredValue(true, false) ? <Page /> : null);
  return Object.assign(Sliced, { preload: page.preload });
}

const explore = () => import('./pages/explore/explore-page.js');
const data = () => import('./pages/data/data-page.js');
const processing = () => import('./pages/processing/index.js');
const webhooks = () => import('./pages/webhooks/index.js');
const accounts = () => import('./pages/accounts/index.js');
const limits = () => import('./pages/limits/index.js');
const gamedata = () => import('./pages/gamedata/index.js');
const identities = () => import('./pages/identities/identities-page.js');
const server = () => import('./pages/server/index.js');

const routeTree = rootRoute.addChildren([
  createRoute({ getParentRoute: () => rootRoute, path: '/', component: HomePage }),
  route('/explore', explore, 'ExplorePage'),
  route('/explore/$savedId', () => import('./pages/explore/saved-query-page.js'), 'SavedQueryPage'),
  route('/data', data, 'DatabasesPage'),
  route('/data/$db', data, 'DatabasePage'),
  route('/data/$db/$table', data, 'TablePage'),
  route('/storage', data, 'StoragePage'),
  route('/caches', processing, 'CachesPage'),
  route('/triggers', processing, 'TriggersPage'),
  route('/triggers/$db/$name', processing, 'TriggerPage'),
  route('/webhooks', webhooks, 'AppsPage'),
  route('/webhooks/$app', webhooks, 'AppPage'),
  route('/webhooks/$app/configuration', webhooks, 'ConfigurationPage'),
  route('/webhooks/$app/redrive', webhooks, 'RedrivePage'),
  route('/webhooks/$app/publish', webhooks, 'PublishPage'),
  route('/webhooks/$app/$delivery', webhooks, 'AppPage'),
  route('/accounts', accounts, 'AccountsPage'),
  route('/accounts/clocks', accounts, 'TestClocksPage'),
  route('/accounts/keys', accounts, 'AccountKeysPage'),
  route('/accounts/settings', accounts, 'PlatformSettingsPage'),
  route('/accounts/$platform/$account', accounts, 'AccountPage'),
  route('/limits', limits, 'LimitsPage'),
  route('/limits/simulate', limits, 'SimulatePage'),
  route('/gamedata', gamedata, 'CollectionsPage'),
  route('/gamedata/changes', gamedata, 'ChangesPage'),
  route('/gamedata/versions', gamedata, 'VersionsPage'),
  route('/gamedata/exchange', gamedata, 'ExchangePage'),
  route('/gamedata/$kind', gamedata, 'RecordsPage'),
  route('/gamedata/$kind/$id', gamedata, 'RecordPage'),
  route('/identities', identities, 'IdentitiesPage'),
  route('/queries', server, 'QueriesPage'),
  route('/tokens', server, 'TokensPage'),
  route('/users', server, 'UsersPage'),
  route('/server', server, 'ServerPage'),
]);

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch(search) {
    const given = Object.entries(search).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    );
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  },
});

noteDatabase(location);
router.history.subscribe(({ action, location: next }) => {
  noteMove(action.type);
  noteDatabase(next);
});

/** Loads the code of all pages in idle time, so that they still open after the connection is lost. */
export function preloadPages(): void {
  for (const load of [
    ...[explore, data, processing, accounts, webhooks],
    ...[limits, gamedata, identities, server],
  ])
    load().catch(() => undefined);
}
