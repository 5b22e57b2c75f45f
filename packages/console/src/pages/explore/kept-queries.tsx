import { deleteSavedQuery, fetchSavedQueries } from '@plinth/console-core/api/tsdb.js';
import { countText, millisText, timeText } from '@plinth/console-core/lib/units.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyButton } from '../../components/controls/copy-button.js';
import { Dialog } from '../../components/controls/dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { toast } from '../../components/controls/toasts.js';
import type { ExploreSearch } from './explore-search.js';
import { readHistory } from './run-history.js';

interface Kept {
  readonly key: string;
  readonly title: string;
  readonly about: string;
  readonly text: string;
  readonly isBad?: boolean;
  readonly link?: string;
  readonly search: ExploreSearch;
  readonly forget?: () => Promise<void>;
}

/** Lists the saved queries of the server, or the query history of this browser. */
export function KeptQueries(props: {
  readonly list: 'saved' | 'history';
  readonly onClose: () => void;
  readonly onOpen: (search: ExploreSearch) => void;
}) {
  const { list, onClose, onOpen } = props;
  const [find, setFind] = useState('');
  const stored = useKept(list);
  const searchText = find.toLowerCase();
  const shown = stored.data.filter(({ title, text }) =>
    `${title}\n${text}`.toLowerCase().includes(searchText),
  );
  return (
    <Dialog
      title={list === 'saved' ? 'Saved queries' : 'Query history'}
      isOpen
      isDrawer
      onClose={onClose}
    >
      <input
        className="input"
        aria-label="Find query"
        placeholder="Find"
        value={find}
        onChange={(event) => setFind(event.target.value)}
      />
      {stored.error != null && <ProblemNote error={stored.error} />}
      {stored.data.length === 0 && stored.error == null && (
        <p className="soft">
          {list === 'saved'
            ? 'No saved queries yet. Press Ctrl+S to save the current query and get a short link.'
            : 'No recent queries yet. Queries that you run appear here.'}
        </p>
      )}
      <ul className="kept-list">
        {shown.slice(0, 200).map((each) => (
          <li key={each.key} className="kept">
            <button type="button" className="kept-open" onClick={() => onOpen(each.search)}>
              <span className="kept-title">{each.title}</span>
              <span className={`hint ${each.isBad ? 'field-error' : 'soft'}`}>{each.about}</span>
              <code className="kept-text">{each.text}</code>
            </button>
            <span className="row">
              {each.link && <CopyButton text={each.link} label={`Copy link to ${each.title}`} />}
              {each.forget && (
                <button
                  type="button"
                  className="button icon small quiet"
                  aria-label={`Delete ${each.title}`}
                  onClick={() => void each.forget?.()}
                >
                  <Icon name="trash" size={14} />
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {shown.length > 200 && (
        <p className="hint soft">
          Showing 200 of {countText(shown.length)}. Use Find to narrow the list.
        </p>
      )}
    </Dialog>
  );
}

function useKept(list: 'saved' | 'history'): {
  readonly data: readonly Kept[];
  readonly error: unknown;
} {
  const client = useQueryClient();
  const saved = useQuery({
    queryKey: ['tsdb', 'saved-queries'],
    queryFn: fetchSavedQueries,
    enabled: list === 'saved',
  });
  const runs = useQuery({
    queryKey: ['history'],
    queryFn: readHistory,
    enabled: list === 'history',
    staleTime: 0,
  });
  if (list === 'history') {
    const data = (runs.data ?? []).map((run, index): Kept => {
      const { atMs, db, lang, text, from, to, totalMs, rowCount, error } = run;
      const outcome = error ?? `${countText(rowCount ?? 0)} rows`;
      return {
        key: `${atMs} ${index}`,
        title: `${timeText(atMs)} UTC · ${db} · ${lang}`,
        about: `${millisText(totalMs)} · ${outcome}`,
        isBad: error !== undefined,
        text,
        search: { db, lang, q: text, from, to },
      };
    });
    return { data, error: runs.error };
  }
  const data = (saved.data ?? []).map((query): Kept => {
    const { id, name, db, lang, text, view, rev, created_by, updated_at } = query;
    return {
      key: id,
      title: name,
      about: `${db} · ${lang} · ${created_by ?? 'without a token'} · ${updated_at.slice(0, 10)}`,
      text,
      link: `${location.origin}/console/explore/${id}`,
      search: { ...view, db, lang, q: text, name, saved: id, rev: String(rev) },
      forget: async () => {
        await deleteSavedQuery(id).catch((error: unknown) => toast(String(error), true));
        await client.invalidateQueries({ queryKey: ['tsdb', 'saved-queries'] });
      },
    };
  });
  return { data, error: saved.error };
}
