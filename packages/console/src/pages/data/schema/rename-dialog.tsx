import { type References, rename } from '@plinth/console-core/api/tsdb.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../../components/controls/form-dialog.js';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { TextField } from '../../../components/controls/text-field.js';

type Listed = References['follows'];

/** The dialog that renames a table or, with `column`, one of its columns. Lists what refers to the name. */
export function RenameDialog(props: {
  readonly db: string;
  readonly table: string;
  readonly column: string | undefined;
  readonly onClose: () => void;
  readonly onRenamed: (newName: string) => void;
}) {
  const { db, table, column, onClose, onRenamed } = props;
  const present = column ?? table;
  const [newName, setNewName] = useState(present);
  const isOther = newName !== '' && newName !== present;
  const names = { db, table, newName, ...(column !== undefined && { column }) };
  const check = useQuery({
    queryKey: ['tsdb', 'rename', names],
    queryFn: () => rename({ ...names, isDryRun: true }),
    enabled: isOther,
    retry: false,
  });
  return (
    <FormDialog
      title={`Rename ${column === undefined ? 'table' : 'column'} ${present}`}
      action="Rename"
      doing="Renaming"
      canAct={isOther && check.isSuccess}
      act={async () => {
        await rename({ ...names, isDryRun: false });
        onRenamed(newName);
      }}
      onClose={onClose}
    >
      <TextField
        label="New name"
        isCode
        value={newName}
        onChange={setNewName}
        hint="Writes and queries that use the former name are rejected, and the error contains the new name."
      />
      {isOther && check.isError && <ProblemNote error={check.error} />}
      <ReferenceList title="Updated automatically" references={check.data?.follows} />
      <ReferenceList title="Change manually" references={check.data?.needs_change} />
    </FormDialog>
  );
}

export function ReferenceList(props: {
  readonly title: string;
  readonly references: Listed | undefined;
}) {
  const { title, references = [] } = props;
  if (references.length === 0) return null;
  return (
    <div>
      <p>{title}:</p>
      <ul>
        {references.map(({ kind, name }) => (
          <li key={`${kind} ${name}`}>
            {kind.replaceAll('_', ' ')} <code>{name}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}
