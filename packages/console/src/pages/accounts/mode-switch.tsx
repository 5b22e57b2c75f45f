import type { Platform } from '@plinth/console-core/api/accounts.js';
import { SearchSelect } from '../../components/search/search-fields.js';
import { useSearchParams } from '../../components/search/use-search-params.js';

/** Selects the platform, and test or live data. */
export function ModeSwitch({ platforms }: { readonly platforms: readonly Platform[] }) {
  const [params, change] = useSearchParams();
  return (
    <>
      {platforms.length > 1 && (
        <SearchSelect
          label="Platform"
          name="platform"
          options={platforms.map(({ id, name }) => [id, name])}
          fallback={platforms[0]?.id ?? ''}
        />
      )}
      <div className="row" role="group" aria-label="Mode">
        {(['test', 'live'] as const).map((mode) => (
          <button
            key={mode}
            type="button"
            className="button small"
            aria-pressed={(params['mode'] === 'live') === (mode === 'live')}
            onClick={() => change({ mode: mode === 'live' ? 'live' : '' })}
          >
            {mode === 'live' ? 'Live' : 'Test'}
          </button>
        ))}
      </div>
    </>
  );
}
