import type { Language } from '@plinth/console-core/lib/query/macros.js';
import type { RangeText } from '@plinth/console-core/lib/time/time-range.js';
import { bytesText, countText, millisText } from '@plinth/console-core/lib/units.js';
import { useEffect, useState } from 'react';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { type ExploreSearch, languageOf, textToSend } from './explore-search.js';
import { exportEntries } from './export-result.js';
import type { RunState } from './hooks/use-run.js';
import { KeptQueries } from './kept-queries.js';
import { SaveDialog } from './save-dialog.js';
import { ShareButton } from './share-button.js';
import { snippetEntries } from './snippets.js';

/** The buttons of the query, and the duration and size of the last run. */
export function ExploreActions(props: {
  readonly search: ExploreSearch;
  readonly state: RunState;
  readonly onRun: () => void;
  readonly onCancel: () => void;
  /** Absent when the language has no query plans. */
  readonly onExplain: (() => void) | undefined;
  readonly onLanguage: (language: Language) => void;
  /** Shows the query builder, in a new tab if it cannot show this query; absent when it is shown or not possible. */
  readonly onBuilder: (() => void) | undefined;
  readonly onOpen: (search: ExploreSearch) => void;
  /** Adds the id of the saved query to the address. */
  readonly onSaved: (change: ExploreSearch) => void;
}) {
  const { search, state, onRun, onCancel, onExplain, onLanguage, onBuilder } = props;
  const { onOpen, onSaved } = props;
  /** Replaces the time range when the query is saved with an absolute one. */
  const [saving, setSaving] = useState<Partial<RangeText> | undefined>();
  const [shownList, setShownList] = useState<'saved' | 'history' | undefined>();
  const language = languageOf(search);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      setSaving({});
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const sent = () => textToSend(search);
  return (
    <div className="explore-actions">
      {state.isRunning ? (
        <button type="button" className="button" onClick={onCancel} title="Ctrl+.">
          <Icon name="stop" size={13} /> Cancel
        </button>
      ) : (
        <button type="button" className="button primary" onClick={onRun} title="Ctrl+Enter">
          <Icon name="play" size={13} /> Run
        </button>
      )}
      <fieldset className="segments" aria-label="Language">
        {(['sql', 'influxql'] as const).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={language === each}
            onClick={() => onLanguage(each)}
          >
            {each === 'sql' ? 'SQL' : 'InfluxQL'}
          </button>
        ))}
      </fieldset>
      {onBuilder && (
        <button
          type="button"
          className="button icon"
          aria-label="Builder"
          title="Show the query builder"
          onClick={onBuilder}
        >
          <Icon name="sliders" size={14} />
        </button>
      )}
      {onExplain && (
        <button type="button" className="button" onClick={onExplain} title="Shift+Ctrl+Enter">
          Explain
        </button>
      )}
      <button type="button" className="button" onClick={() => setSaving({})} title="Ctrl+S">
        <Icon name="save" size={14} /> Save
      </button>
      <ShareButton search={search} state={state} onTooLong={setSaving} />
      <MenuButton label="Export" entries={[...exportEntries(sent, state), ...snippetEntries(sent)]}>
        <Icon name="download" size={14} /> Export <Icon name="down" size={12} />
      </MenuButton>
      <button type="button" className="button quiet" onClick={() => setShownList('saved')}>
        Saved
      </button>
      <button type="button" className="button quiet" onClick={() => setShownList('history')}>
        History
      </button>
      <RunFigures state={state} />
      {saving && (
        <SaveDialog
          search={{ ...search, ...saving }}
          onSaved={onSaved}
          onClose={() => setSaving(undefined)}
        />
      )}
      {shownList && (
        <KeptQueries
          list={shownList}
          onClose={() => setShownList(undefined)}
          onOpen={(opened) => {
            setShownList(undefined);
            onOpen(opened);
          }}
        />
      )}
    </div>
  );
}

function RunFigures({ state }: { readonly state: RunState }) {
  const [nowMs, setNowMs] = useState(0);
  useEffect(() => {
    if (!state.isRunning) return;
    const timer = setInterval(() => setNowMs(performance.now()), 100);
    return () => clearInterval(timer);
  }, [state.isRunning]);
  const { result, progress, isRunning, startMs, error } = state;
  const text = isRunning
    ? `${millisText(Math.max(0, nowMs - startMs))}${progress ? ` · ${countText(progress.rowCount)} rows · ${bytesText(progress.sizeBytes)}` : ''}`
    : error !== undefined
      ? `Failed${result ? ' · previous result below' : ''}`
      : result &&
        `${millisText(result.totalMs)} · ${countText(result.frame.rowCount)} ${result.frame.rowCount === 1 ? 'row' : 'rows'} · ${bytesText(result.sizeBytes)}`;
  return (
    <span className="run-figures soft" role="status">
      {text}
    </span>
  );
}
