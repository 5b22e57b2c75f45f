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
    | 'people'
    | 'table';
  /** The second key of the shortcut that starts with `g`. */
  readonly letter: string;
  /** The service that the page needs. */
  readonly service?: string;
  /** Heading in the navigation; empty for none. */
  readonly group: '' | 'Data' | 'Services' | 'Admin';
  /** The path of the page whose entry in the navigation includes this one, as a tab. */
  readonly tabOf?: string;
  /** The title of an entry with tabs, if it differs from that of its first tab. */
  readonly section?: string;
  /** Shown in the bar of a narrow window; the others are behind “More”. */
  readonly isMain?: boolean;
}

export const PLACES: readonly Place[] = [
  { path: '/', title: 'Home', icon: 'home', letter: 'h', group: '', isMain: true },
  {
    path: '/explore',
    title: 'Explore',
    icon: 'explore',
    letter: 'e',
    service: 'tsdb',
    group: 'Data',
    isMain: true,
  },
  { path: '/data', title: 'Databases', icon: 'data', letter: 'd', service: 'tsdb', group: 'Data' },
  {
    path: '/caches',
    title: 'Caches',
    icon: 'save',
    letter: 'c',
    service: 'tsdb',
    group: 'Data',
    tabOf: '/data',
  },
  {
    path: '/storage',
    title: 'Storage',
    icon: 'layers',
    letter: 'f',
    service: 'tsdb',
    group: 'Data',
    tabOf: '/data',
  },
  {
    path: '/triggers',
    title: 'Triggers',
    icon: 'clock',
    letter: 'r',
    service: 'tsdb',
    group: 'Data',
  },
  {
    path: '/accounts',
    title: 'Accounts',
    icon: 'people',
    letter: 'a',
    service: 'accounts',
    group: 'Services',
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    icon: 'share',
    letter: 'w',
    service: 'webhooks',
    group: 'Services',
    isMain: true,
  },
  {
    path: '/limits',
    title: 'Rate limits',
    icon: 'gauge',
    letter: 'l',
    service: 'ratelimit',
    group: 'Services',
    isMain: true,
  },
  {
    path: '/gamedata',
    title: 'Game data',
    icon: 'table',
    letter: 'm',
    service: 'gamedata',
    group: 'Services',
  },
  {
    path: '/server',
    title: 'Server',
    icon: 'server',
    letter: 's',
    service: 'tsdb',
    group: 'Admin',
  },
  {
    path: '/queries',
    title: 'Queries',
    icon: 'queries',
    letter: 'q',
    service: 'tsdb',
    group: 'Admin',
    tabOf: '/server',
  },
  {
    path: '/tokens',
    title: 'Tokens',
    icon: 'key',
    letter: 't',
    service: 'tsdb',
    group: 'Admin',
    section: 'Access',
  },
  {
    path: '/identities',
    title: 'Identities',
    icon: 'people',
    letter: 'i',
    service: 'ratelimit',
    group: 'Admin',
    tabOf: '/tokens',
  },
  {
    path: '/users',
    title: 'InfluxDB 1.x users',
    icon: 'people',
    letter: 'u',
    service: 'tsdb',
    group: 'Admin',
    tabOf: '/tokens',
  },
];

export const placesOf = (services: readonly string[]): readonly Place[] =>
  PLACES.filter(({ service }) => service === undefined || services.includes(service));

/** The entries of the navigation: available places that are not tabs of another one. */
export function sectionsOf(services: readonly string[]): readonly Place[] {
  const places = placesOf(services);
  return places.filter(({ tabOf }) => places.every(({ path }) => path !== tabOf));
}

/** The pages of a section, its first one included. */
export const pagesOf = (section: string, services: readonly string[]): readonly Place[] =>
  placesOf(services).filter(({ path, tabOf }) => path === section || tabOf === section);

/** Returns whether a path belongs to an entry of the navigation. */
export const isInSection = (section: string, path: string): boolean =>
  PLACES.some(
    (place) =>
      (place.path === section || place.tabOf === section) &&
      (place.path === '/' ? path === '/' : `${path}/`.startsWith(`${place.path}/`)),
  );

/** Returns the document title for a path: `weather – sample – Databases – plinth`. */
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
