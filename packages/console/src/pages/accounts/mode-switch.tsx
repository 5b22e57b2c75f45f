import type { Platform } from '../../api/accounts.js';

/** Selects the platform, and test or live data. */
export function ModeSwitch(props: {
  readonly isLive: boolean;
  readonly platform: string;
  readonly platforms: readonly Platform[];
  readonly onChange: (change: { mode: string } | { platform: string }) => void;
}) {
  const { isLive, platform, platforms, onChange } = props;
  return (
    <>
      {platforms.length > 1 && (
        <select
          className="input"
          aria-label="Platform"
          value={platform}
          onChange={(event) => onChange({ platform: event.target.value })}
        >
          {platforms.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <div className="row" role="group" aria-label="Mode">
        {(['test', 'live'] as const).map((mode) => (
          <button
            key={mode}
            type="button"
            className="button small"
            aria-pressed={isLive === (mode === 'live')}
            onClick={() => onChange({ mode: mode === 'live' ? 'live' : '' })}
          >
            {mode === 'live' ? 'Live' : 'Test'}
          </button>
        ))}
      </div>
    </>
  );
}
