import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ServerInfo } from '../../api/server.js';
import { session } from '../../api/session.js';
import { placesOf } from '../../lib/places.js';
import { setTheme, shownTheme } from '../../lib/storage/theme.js';
import { Icon } from '../controls/icon.js';

/** The navigation: links to all sections, and the actions of the console. */
export function Rail(props: {
  readonly info: ServerInfo;
  readonly openPalette: () => void;
  readonly openHelp: () => void;
}) {
  const { info, openPalette, openHelp } = props;
  const sections = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // On a narrow page, the sections scroll sideways to the current one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on each change of the path.
  useEffect(() => {
    const here = sections.current?.querySelector('[aria-current="page"]');
    here?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  return (
    <div className="rail">
      <Link to="/" className="brand" aria-label="plinth, home">
        <svg aria-hidden="true" width="26" height="26" viewBox="0 0 32 32">
          <rect width="32" height="32" rx="7" className="brand-ground" />
          <path
            d="M7 24h18v2.500H7zM9.500 20.500h13V23h-13zM11 6h10v2.500H11zM12.500 9.500h2v10h-2zM17.500 9.500h2v10h-2z"
            className="brand-sign"
          />
        </svg>
      </Link>
      <nav aria-label="Sections" ref={sections}>
        <ul>
          {placesOf(info.services).map(({ path, title, icon }) => (
            <li key={path}>
              <Link
                to={path}
                className="rail-link"
                activeOptions={{ exact: path === '/', includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                <Icon name={icon} size={18} />
                <span>{title}</span>
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="rail-end">
        <RailButton icon="search" label="Find" hint="Ctrl+K" act={openPalette} />
        <RailButton
          icon="theme"
          label="Theme"
          hint="light or dark"
          act={() => setTheme(shownTheme() === 'dark' ? 'light' : 'dark')}
        />
        <RailButton icon="help" label="Shortcuts" hint="?" act={openHelp} />
        {info.auth && (
          <RailButton
            icon="out"
            label="Sign out"
            hint="in all tabs"
            act={() => session.signOut()}
          />
        )}
      </div>
    </div>
  );
}

function RailButton(props: {
  readonly icon: 'search' | 'theme' | 'help' | 'out';
  readonly label: string;
  readonly hint: string;
  readonly act: () => void;
}) {
  const { icon, label, hint, act } = props;
  return (
    <button type="button" className="rail-link" title={`${label} (${hint})`} onClick={act}>
      <Icon name={icon} size={18} />
      <span>{label}</span>
    </button>
  );
}
