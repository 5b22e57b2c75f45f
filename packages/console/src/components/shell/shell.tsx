import { connection } from '@plinth/console-core/api/connection.js';
import { fetchInfo, type ServerInfo } from '@plinth/console-core/api/server.js';
import { session } from '@plinth/console-core/api/session.js';
import { documentTitle, PLACES } from '@plinth/console-core/lib/places.js';
import { isRailCollapsed, setRailCollapsed } from '@plinth/console-core/lib/storage/rail.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Navigate, Outlet, useMatches, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Toasts } from '../controls/toasts.js';
import { FirstToken } from './first-token.js';
import { NotRunning } from './not-running.js';
import { OfflineBar } from './offline-bar.js';
import { Rail } from './rail.js';
import { ServerContext } from './server-context.js';
import './shell.css';
import { SignIn } from './sign-in.js';
import { useShortcuts } from './use-shortcuts.js';

const Palette = lazy(() => import('./palette.js').then((m) => ({ default: m.Palette })));
const Shortcuts = lazy(() => import('./shortcuts.js').then((m) => ({ default: m.Shortcuts })));

/** Timeout for another tab to share its token. */
const OTHER_TABS_MS = 150;
const INFO_INTERVAL_MS = 15_000;
const RETRY_MS = 2000;
/** The only service that an editor token permits. */
const EDITOR_SERVICE = 'gamedata';
/** The heading may render late, after the code of the page has loaded. */
const HEADING_INTERVAL_MS = 50;
const MAX_HEADING_TRIES = 100;

/** The frame around every page; without a valid token, the sign-in page. */
export function Shell() {
  useSyncExternalStore(session.subscribe, session.snapshot);
  const [hasWaited, setHasWaited] = useState(session.token !== '');
  useEffect(() => {
    const timer = setTimeout(() => setHasWaited(true), OTHER_TABS_MS);
    return () => clearTimeout(timer);
  }, []);
  const isLost = useSyncExternalStore(connection.subscribe, connection.lostSince) !== undefined;
  const info = useQuery({
    queryKey: ['server', 'info'],
    queryFn: fetchInfo,
    refetchInterval: isLost ? RETRY_MS : INFO_INTERVAL_MS,
    retry: false,
  });
  if (info.data === undefined) {
    return info.isError ? (
      <main className="gate">
        <div className="gate-card card stack">
          <h1>Server unreachable</h1>
          <p className="soft">The server does not respond. This page retries automatically.</p>
          <button type="button" className="button" onClick={() => void info.refetch()}>
            Retry now
          </button>
        </div>
      </main>
    ) : null;
  }
  if (!hasWaited && session.token === '' && info.data.auth) return null;
  return <Gate info={info.data} />;
}

function Gate({ info }: { readonly info: ServerInfo }) {
  const client = useQueryClient();
  const isOut = info.auth && session.token === '';
  // A page that was already shown stays mounted below the sign-in, so its input is kept.
  const wasIn = useRef(false);
  const [isMaking, setIsMaking] = useState(info.setup_needed && isOut);
  if (isMaking) return <FirstToken info={info} onDone={() => setIsMaking(false)} />;
  if (!isOut) wasIn.current = true;
  const isRefused = info.auth && session.isRefused;
  const onSignedIn = () => void client.invalidateQueries();
  if (isOut && !isRefused) {
    wasIn.current = false;
    return <SignIn services={info.services} onSignedIn={onSignedIn} />;
  }
  // An editor token permits nothing else, so the other pages are hidden.
  const isEditor = info.auth && session.role === 'editor';
  const shown = isEditor ? { ...info, services: [EDITOR_SERVICE] } : info;
  return (
    <ServerContext value={shown}>
      {wasIn.current && <Frame info={shown} isCovered={isRefused} />}
      {isRefused && <SignIn isOverlay services={info.services} onSignedIn={onSignedIn} />}
    </ServerContext>
  );
}

function Frame({ info, isCovered }: { readonly info: ServerInfo; readonly isCovered: boolean }) {
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const [firstBuild] = useState(info.build);
  const [isCollapsed, setIsCollapsed] = useState(isRailCollapsed);
  useShortcuts({
    isOff: isCovered || isPaletteOpen || isHelpOpen,
    services: info.services,
    openPalette: () => setIsPaletteOpen(true),
    openHelp: () => setIsHelpOpen(true),
  });
  const path = usePageFocus();
  // While a page loads, the page before it is still shown.
  const shownPath = useMatches().at(-1)?.pathname ?? '';
  const isEditor = info.auth && session.role === 'editor';
  const off = PLACES.find(
    (place) =>
      place.service !== undefined &&
      !info.services.includes(place.service) &&
      `${path}/`.startsWith(`${place.path}/`),
  );
  return (
    <div className={isCollapsed ? 'frame collapsed' : 'frame'} inert={isCovered}>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <Rail
        info={info}
        openPalette={() => setIsPaletteOpen(true)}
        openHelp={() => setIsHelpOpen(true)}
        isCollapsed={isCollapsed}
        setCollapsed={(next) => {
          setRailCollapsed(next);
          setIsCollapsed(next);
        }}
      />
      <div className="frame-side">
        <OfflineBar isNewBuild={info.build !== firstBuild} />
        {!info.auth && (
          <aside className="bar warn" aria-label="Authentication">
            Authentication is off: anyone who can reach this address has full access.
          </aside>
        )}
        <main id="content" className="content" tabIndex={-1}>
          {isEditor && !shownPath.startsWith('/gamedata') ? (
            <Navigate to="/gamedata" replace />
          ) : off === undefined ? (
            <Outlet />
          ) : (
            <NotRunning place={off} services={info.services} />
          )}
        </main>
      </div>
      <Toasts />
      <Suspense>
        {isPaletteOpen && <Palette info={info} onClose={() => setIsPaletteOpen(false)} />}
        {isHelpOpen && <Shortcuts onClose={() => setIsHelpOpen(false)} />}
      </Suspense>
    </div>
  );
}

/** Moves the focus to the heading of a new page, so that screen readers announce it. The first page keeps the browser's focus. */
function usePageFocus(): string {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = documentTitle(path);
  }, [path]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on each change of the path.
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    let tries = 0;
    const before = document.activeElement;
    const timer = setInterval(() => {
      const heading = document.querySelector<HTMLElement>('main h1');
      if (heading !== null || ++tries === MAX_HEADING_TRIES) clearInterval(timer);
      // The user may have moved the focus in the meantime.
      const now = document.activeElement;
      if (now === before || now === document.body) heading?.focus();
    }, HEADING_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [path]);
  return path;
}
