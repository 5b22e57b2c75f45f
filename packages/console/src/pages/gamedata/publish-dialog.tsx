import {
  faultsOf,
  fetchCollections,
  fetchDraftState,
  fetchPublished,
  publishDraft,
  validateDraft,
} from '@plinth/console-core/api/gamedata.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { toast } from '../../components/controls/toasts.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { FaultList } from '../../components/form/fault-list.js';
import { RecordDifferences } from '../../components/form/record-differences.js';
import { useOpenChanges } from './use-open-changes.js';

/** Publishes the draft as a new version, after showing what changes. */
export function PublishDialog({ onClose }: { readonly onClose: () => void }) {
  const [message, setMessage] = useState('');
  const { changed } = useChanges('gamedata');
  const { open } = useOpenChanges();
  const drafts = new Map(open.map(({ type, id }) => [`${type} ${id}`, [type ?? '', id ?? '']]));
  const collections = useQuery({
    queryKey: ['gamedata', 'collections'],
    queryFn: fetchCollections,
    staleTime: 0,
  });
  const validation = useQuery({
    queryKey: ['gamedata', 'validation'],
    queryFn: validateDraft,
    staleTime: 0,
  });
  const changes = (collections.data ?? []).filter((each) => each.changed > 0);
  const count = changes.reduce((sum, each) => sum + each.changed, 0);
  const errors = validation.data?.errors ?? [];
  return (
    <FormDialog
      title="Publish a version"
      action="Publish"
      doing="Publishing …"
      canAct={count > 0 && errors.length === 0}
      onClose={onClose}
      act={async () => {
        const { version, changed: published } = await publishDraft(message);
        onClose();
        if (published === 0) toast('No unpublished changes');
        else await changed(`Version ${version} published: ${countOf(published, 'record')} changed`);
      }}
    >
      {(error) => (
        <>
          <QueryProblem of={collections} />
          <QueryProblem of={validation} />
          {collections.data && (
            <p role="status">
              {count === 0
                ? 'No unpublished changes.'
                : `${countOf(count, 'changed record')}: ${changes.map(({ key, changed: each }) => `${key} ${each}`).join(', ')}`}
            </p>
          )}
          {count > 1 && (
            <p className="hint soft">
              Includes changes by other editors. <Link to="/gamedata/changes">Review</Link>
            </p>
          )}
          <RecordDifferences
            queryKey={['gamedata', 'draft-differences']}
            records={[...drafts].map(([name, [type = '', id = '']]) => ({
              name,
              fetchStates: async () => ({
                before: await fetchPublished(type, id),
                after: await fetchDraftState(type, id),
              }),
            }))}
          />
          <FaultList faults={errors} />
          <FaultList faults={validation.data?.warnings ?? []} isWarning />
          <TextField
            label="Message"
            value={message}
            onChange={setMessage}
            maxLength={1000}
            hint="Optional. The message is shown in the list of versions."
          />
          <FaultList faults={faultsOf(error)} />
        </>
      )}
    </FormDialog>
  );
}
