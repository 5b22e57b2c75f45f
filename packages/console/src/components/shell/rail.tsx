import type { ServerInfo } from '@plinth/console-core/api/server.js';
import { session } from '@plinth/console-core/api/session.js';
import { isInSection, type Place, sectionsOf } from '@plinth/console-core/lib/places.js';
import { onThemeChange, setTheme, shownTheme } from '@plinth/console-core/lib/storage/theme.js';
import { Link, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useState, useSyncExternalStore } from 'react';
import { Icon, type IconName } from '../controls/icon.js';

const RailMenu = lazy(() => import('./rail-menu.js').then((m) => ({ default: m.RailMenu })));
const MorePages = lazy(() => import('./more-pages.js').then((m) => ({ default: m.MorePages })));

const GROUPS = ['', 'Data', 'Services', 'Admin'] as const;

/** The navigation: links to all pages, and the actions of the console. */
export function Rail(props: {
  readonly info: ServerInfo;
  readonly openPalette: () => void;
  readonly openHelp: () => void;
  readonly isCollapsed: boolean;
  readonly setCollapsed: (isCollapsed: boolean) => void;
}) {
  const { info, openPalette, openHelp, isCollapsed, setCollapsed } = props;
  const [isMoreOpen, setIsMoreOpen] = useState(false);
  const isEditor = info.auth && session.role === 'editor';
  const places = sectionsOf(info.services).filter(({ path }) => !isEditor || path !== '/');
  const isDark = useSyncExternalStore(onThemeChange, shownTheme) === 'dark';
  const signOut: Action = {
    id: 'out',
    icon: 'out',
    label: 'Sign out',
    hint: 'in all tabs',
    act: () => session.signOut(),
  };
  const actions: readonly Action[] = [
    {
      id: 'theme',
      icon: 'theme',
      label: isDark ? 'Light theme' : 'Dark theme',
      act: () => setTheme(isDark ? 'light' : 'dark'),
    },
    { id: 'help', icon: 'help', label: 'Shortcuts', hint: '?', act: openHelp },
    ...(info.auth ? [signOut] : []),
  ];
  return (
    <header className="rail">
      <Link to="/" className="brand" aria-label="plinth, home">
        <svg aria-hidden="true" width="26" height="26" viewBox="0 0 32 32">
          <rect width="32" height="32" rx="7" className="brand-ground" />
          <path
            d="M7 24h18v2.500H7zM9.500 20.500h13V23h-13zM11 6h10v2.500H11zM12.500 9.500h2v10h-2zM17.500 9.500h2v10h-2z"
            className="brand-sign"
          />
        </svg>
        <span className="brand-line">plinth</span>
      </Link>
      <RailButton icon="search" label="Find" hint="Ctrl+K" act={openPalette} />
      <nav aria-label="Sections">
        {GROUPS.map((group) => (
          <PlaceList
            key={group}
            title={group}
            places={places.filter((place) => place.group === group)}
          />
        ))}
      </nav>
      <div className="rail-end">
        <Suspense>
          <RailMenu entries={actions} />
        </Suspense>
        <span className="rail-collapse">
          <RailButton
            icon={isCollapsed ? 'right' : 'left'}
            label={isCollapsed ? 'Expand' : 'Collapse'}
            hint="the navigation"
            act={() => setCollapsed(!isCollapsed)}
          />
        </span>
      </div>
      <span className="rail-more">
        <RailButton icon="down" label="More" hint="all pages" act={() => setIsMoreOpen(true)} />
      </span>
      <Suspense>
        {isMoreOpen && (
          <MorePages onClose={() => setIsMoreOpen(false)}>
            <PlaceList title="" places={places.filter(({ isMain }) => !isMain)} />
            {actions.map(({ id, ...action }) => (
              <RailButton key={id} {...action} />
            ))}
          </MorePages>
        )}
      </Suspense>
    </header>
  );
}

interface Action {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  readonly hint?: string;
  readonly act: () => void;
}

function PlaceList({
  title,
  places,
}: {
  readonly title: string;
  readonly places: readonly Place[];
}) {
  const { pathname } = useLocation();
  if (places.length === 0) return null;
  return (
    <>
      {title !== '' && <p className="rail-group">{title}</p>}
      <ul>
        {places.map(({ path, title: own, section: name = own, icon, isMain }) => (
          <li key={path} className={isMain ? 'main' : ''}>
            <Link
              to={path}
              className="rail-link"
              title={name}
              activeOptions={{ exact: path === '/', includeSearch: false }}
              aria-current={isInSection(path, pathname) ? 'page' : undefined}
            >
              <Icon name={icon} size={16} />
              <span>{name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function RailButton(props: Omit<Action, 'id'>) {
  const { icon, label, hint, act } = props;
  const title = hint === undefined ? label : `${label} (${hint})`;
  return (
    <button type="button" className="rail-link" title={title} onClick={act}>
      <Icon name={icon} size={16} />
      <span>{label}</span>
    </button>
  );
}
