import { pagesOf } from '@plinth/console-core/lib/places.js';
import { Link, useLocation } from '@tanstack/react-router';
import { useSearchParams } from '../search/use-search-params.js';
import { useServer } from './server-context.js';

interface Tab {
  readonly label: string;
  readonly to: string;
  /** The search parameter `tab` of the page. */
  readonly tab?: string;
}

/** Tabs of a page itself, after its first one. */
const MORE_TABS: Readonly<Record<string, readonly Tab[]>> = {
  '/server': [
    { label: 'Logs', to: '/server', tab: 'logs' },
    { label: 'Settings', to: '/server', tab: 'settings' },
  ],
};
const FIRST_LABELS: Readonly<Record<string, string>> = { '/server': 'Dashboard' };

/** Links to the pages of a section of the navigation. Nothing for a section with one page. */
export function SectionTabs({ section }: { readonly section: '/data' | '/server' | '/tokens' }) {
  const { services } = useServer();
  const { pathname } = useLocation();
  const [{ tab: shown = '' }] = useSearchParams();
  const tabs: readonly Tab[] = [
    ...pagesOf(section, services).map(({ path, title }) => ({
      ...{ label: FIRST_LABELS[path] ?? title, to: path },
    })),
    ...(MORE_TABS[section] ?? []),
  ];
  if (tabs.length < 2) return null;
  return (
    <nav className="tabs" aria-label="Section">
      {tabs.map(({ label, to, tab = '' }) => (
        <Link
          key={label}
          to={to}
          search={tab === '' ? {} : { tab }}
          activeOptions={{ exact: true, explicitUndefined: true }}
          aria-current={pathname === to && shown === tab ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
