/** A page in the navigation. */
export interface Place {
  readonly path: string;
  readonly title: string;
  readonly icon:
    | 'home'
    | 'explore'
    | 'data'
    | 'save'
    | 'clock'
    | 'queries'
    | 'key'
    | 'server'
    | 'share'
    | 'gauge'
    | 'layers'
    | 'people';
  /** The second key of the shortcut that starts with `g`. */
  readonly letter: string;
  /** The service that the page needs. */
  readonly service?: string;
}

export const PLACES: readonly Place[] = [
  { path: '/', title: 'Home', icon: 'home', letter: 'h' },
  { path: '/explore', title: 'Explore', icon: 'explore', letter: 'e', service: 'tsdb' },
  { path: '/data', title: 'Data', icon: 'data', letter: 'd', service: 'tsdb' },
  { path: '/caches', title: 'Caches', icon: 'save', letter: 'c', service: 'tsdb' },
  { path: '/triggers', title: 'Triggers', icon: 'clock', letter: 'r', service: 'tsdb' },
  { path: '/storage', title: 'Storage', icon: 'layers', letter: 'f', service: 'tsdb' },
  { path: '/webhooks', title: 'Webhooks', icon: 'share', letter: 'w', service: 'webhooks' },
  { path: '/limits', title: 'Rate limits', icon: 'gauge', letter: 'l', service: 'ratelimit' },
  {
    path: '/identities',
    title: 'Identities',
    icon: 'people',
    letter: 'i',
    service: 'ratelimit',
  },
  { path: '/queries', title: 'Queries', icon: 'queries', letter: 'q', service: 'tsdb' },
  { path: '/server', title: 'Server', icon: 'server', letter: 's', service: 'tsdb' },
  { path: '/tokens', title: 'Tokens', icon: 'key', letter: 't', service: 'tsdb' },
];

export const placesOf = (services: readonly string[]): readonly Place[] =>
  PLACES.filter(({ service }) => service === undefined || services.includes(service));

/** The document title of a path: `weather – sample – Data – plinth`. */
export function documentTitle(path: string): string {
  const place = PLACES.findLast((each) =>
    `${path}/`.startsWith(`${each.path}/`.replace('//', '/')),
  );
  const names = path
    .split('/')
    .slice(2)
    .filter((name) => name !== '');
  return [...names.map(decodeURIComponent).reverse(), place?.title, 'plinth']
    .filter((name) => name !== undefined)
    .join(' – ');
}
