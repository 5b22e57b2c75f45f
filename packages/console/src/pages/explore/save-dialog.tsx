import { Problem } from '@plinth/console-core/api/problem.js';
import {
  createSavedQuery,
  fetchSavedQuery,
  replaceSavedQuery,
  type SavedQuery,
} from '@plinth/console-core/api/tsdb.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { copyText } from '../../components/controls/copy-button.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { type ExploreSearch, languageOf } from './explore-search.js';

/** Saves the query on the server, as a new one or in place of the opened one. Another user's change is never overwritten without confirmation. */
export function SaveDialog(props: {
  readonly search: ExploreSearch;
  readonly onSaved: (change: ExploreSearch) => void;
  readonly onClose: () => void;
}) {
  const { search, onSaved, onClose } = props;
  const client = useQueryClient();
  const { saved: id, rev } = search;
  const [name, setName] = useState(search['name'] ?? '');
  const [isNew, setIsNew] = useState(id === undefined);
  /** The version that another user saved in the meantime. */
  const [theirs, setTheirs] = useState<SavedQuery>();
  const saved = async (query: SavedQuery) => {
    await client.invalidateQueries({ queryKey: ['tsdb', 'saved-queries'] });
    await copyText(`${location.origin}/console/explore/${query.id}`);
    toast(`Saved. Link copied: …/explore/${query.id}`);
    onSaved({ name: query.name, saved: query.id, rev: String(query.rev) });
    onClose();
  };
  const save = async () => {
    const { q: text = '', db = '', lang: _, tab: __, name: ___, ...others } = search;
    const { saved: _id, rev: _rev, follow: _follow, ...view } = others;
    const content = { name, db, lang: languageOf(search), text, view };
    if (isNew || id === undefined) return await saved(await createSavedQuery(content));
    const before = theirs ?? (await fetchSavedQuery(id));
    // Keep the fields that this dialog does not show.
    const { description, folder, tags } = before;
    const expected = theirs?.rev ?? Number(rev);
    try {
      await saved(await replaceSavedQuery(id, { description, folder, tags, ...content }, expected));
    } catch (error) {
      if (!(error instanceof Problem && error.status === 412)) throw error;
      setTheirs(await fetchSavedQuery(id));
    }
  };
  const isOverwriting = theirs !== undefined && !isNew;
  return (
    <FormDialog
      title="Save query"
      action={isOverwriting ? 'Overwrite' : 'Save'}
      isDanger={isOverwriting}
      canAct={name.trim() !== ''}
      act={save}
      onClose={onClose}
    >
      {id !== undefined && (
        <fieldset className="field choice">
          <legend className="label">As</legend>
          <label className="row">
            <input type="radio" checked={!isNew} onChange={() => setIsNew(false)} />
            Update the opened query
          </label>
          <label className="row">
            <input type="radio" checked={isNew} onChange={() => setIsNew(true)} /> Save as a new
            query
          </label>
        </fieldset>
      )}
      {isOverwriting && (
        <p className="note warn" role="alert">
          Another user changed this query at {timeText(Date.parse(theirs.updated_at))} UTC, after
          you opened it.{' '}
          <a href={`/console/explore/${theirs.id}`} target="_blank" rel="noreferrer">
            Open their version in a new tab
          </a>
        </p>
      )}
      <TextField
        label="Name"
        maxLength={200}
        value={name}
        onChange={setName}
        hint="Stored on the server and visible to everyone with a token."
      />
    </FormDialog>
  );
}
