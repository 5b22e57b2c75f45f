import { useEffect, useState } from 'react';
import { copyText } from '../../components/controls/copy-button.js';
import { Icon } from '../../components/controls/icon.js';
import { MenuButton } from '../../components/controls/menu-button.js';
import { toast } from '../../components/controls/toasts.js';
import type { Language } from '../../lib/query/macros.js';
import { absoluteRange, resolveRange } from '../../lib/time/time-range.js';
import { bytesText, countText, millisText } from '../../lib/units.js';
import { type ExploreSearch, languageOf, rangeOf, textToSend } from './explore-search.js';
import { exportEntries } from './export-result.js';
import { KeptQueries } from './kept-queries.js';
import { SaveDialog } from './save-dialog.js';
import { snippetEntries } from './snippets.js';
import type { RunState } from './use-run.js';

/** Beyond this an address is not sent well. */
const MAX_LINK_LENGTH = 4000;

/** What can be done with the query, and how the last run went. */
export function ExploreActions(props: {
  readonly search: ExploreSearch;
  readonly state: RunState;
  readonly onRun: () => void;
  readonly onCancel: () => void;
  /** Absent where no plan is made. */
  readonly onExplain: (() => void) | undefined;
  readonly onLanguage: (language: Language) => void;
  readonly onOpen: (search: ExploreSearch) => void;
  /** The address says which saved query it shows. */
  readonly onSaved: (change: ExploreSearch) => void;
}) {
  const { search, state, onRun, onCancel, onExplain, onLanguage, onOpen, onSaved } = props;
  const [isSaving, setIsSaving] = useState(false);
  const [shownList, setShownList] = useState<'saved' | 'history' | undefined>();
  const language = languageOf(search);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      setIsSaving(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const range = resolveRange(rangeOf(search), Date.now());
  const sent = () => textToSend(search);
  const share = async (isAbsolute: boolean) => {
    const url = new URL(location.href);
    url.searchParams.delete('tab');
    if (isAbsolute && range !== undefined) {
      const { from, to } = absoluteRange(range);
      url.searchParams.set('from', from);
      url.searchParams.set('to', to);
    }
    if (url.href.length > MAX_LINK_LENGTH) {
      setIsSaving(true);
      toast('The link would be too long: save the query, its short link is copied.');
      return;
    }
    await copyText(url.href);
    toast('Link copied');
  };
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
      {onExplain && (
        <button type="button" className="button" onClick={onExplain} title="Shift+Ctrl+Enter">
          Explain
        </button>
      )}
      <button type="button" className="button" onClick={() => setIsSaving(true)} title="Ctrl+S">
        <Icon name="save" size={14} /> Save
      </button>
      <button type="button" className="button" onClick={() => void share(false)}>
        <Icon name="share" size={14} /> Share
      </button>
      <MenuButton
        label="Export"
        entries={[
          ...exportEntries(sent, state),
          ...snippetEntries(sent),
          {
            id: 'absolute',
            label: 'Link with absolute times',
            hint: 'shows the same range tomorrow',
            act: () => void share(true),
          },
        ]}
      >
        <Icon name="download" size={14} /> Export <Icon name="down" size={12} />
      </MenuButton>
      <button type="button" className="button quiet" onClick={() => setShownList('saved')}>
        Saved
      </button>
      <button type="button" className="button quiet" onClick={() => setShownList('history')}>
        History
      </button>
      <RunFigures state={state} />
      {isSaving && (
        <SaveDialog search={search} onSaved={onSaved} onClose={() => setIsSaving(false)} />
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
  const { result, progress, isRunning, startMs } = state;
  const text = isRunning
    ? `${millisText(Math.max(0, nowMs - startMs))}${progress ? ` · ${countText(progress.rowCount)} rows · ${bytesText(progress.sizeBytes)}` : ''}`
    : result &&
      `${millisText(result.totalMs)} · ${countText(result.frame.rowCount)} ${result.frame.rowCount === 1 ? 'row' : 'rows'} · ${bytesText(result.sizeBytes)}`;
  return (
    <span className="run-figures soft" role="status">
      {text}
    </span>
  );
}
