import {
  createPerson,
  deletePerson,
  fetchPerson,
  fetchPersons,
  savePerson,
  type Tenant,
} from '@plinth/console-core/api/accounts.js';
import type { Account, Person, Requirement } from '@plinth/console-core/lib/account.js';
import { personName } from '@plinth/console-core/lib/account-form.js';
import {
  fieldName,
  requirementSummary,
  statusText,
} from '@plinth/console-core/lib/account-text.js';
import { isAtField } from '@plinth/console-core/lib/form/field-groups.js';
import { countOf, countText } from '@plinth/console-core/lib/units.js';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { Dialog } from '../../components/controls/dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { ShowMore } from '../../components/controls/show-more.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { SearchBox } from '../../components/search/search-fields.js';
import { useSearchParams } from '../../components/search/use-search-params.js';
import { ObjectEditor } from './object-editor.js';
import { useRequestFields } from './use-request-fields.js';

interface Props {
  readonly tenant: Tenant;
  readonly account: Account;
}

/** `person` in the address for a new person. */
const NEW = 'new';

/** The persons of an account, and what each of them has to provide. */
export function PersonsTab({ tenant, account }: Props) {
  const [params, change] = useSearchParams();
  const { find = '', person = '' } = params;
  const [going, setGoing] = useState<Person | undefined>();
  const { changed } = useChanges('accounts');
  const refusal = refusalOf(account);
  const pages = useInfiniteQuery({
    queryKey: ['accounts', 'persons', tenant.platform, account.id],
    queryFn: ({ pageParam }) => fetchPersons(tenant, account.id, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const loaded = pages.data?.pages.flatMap(({ rows }) => rows) ?? [];
  const searchText = find.trim().toLowerCase();
  const shown = loaded.filter((each) =>
    `${personName(each)} ${each.id} ${each.email ?? ''}`.toLowerCase().includes(searchText),
  );
  const open = (id: string) => change({ person: id });
  return (
    <>
      <div className="row wrap">
        <SearchBox label="Find person" placeholder="Find person" />
        <button
          type="button"
          className="button primary end"
          disabled={refusal !== undefined}
          title={refusal}
          onClick={() => open(NEW)}
        >
          <Icon name="plus" size={14} /> Create person
        </button>
      </div>
      {account.closed || refusal === undefined ? null : <p className="note">{refusal}</p>}
      <QueryProblem of={pages} />
      <DataTable
        label="Persons"
        rows={pages.isSuccess ? shown : undefined}
        keyOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        columns={[
          {
            title: 'Person',
            className: 'nowrap',
            cell: (each) => (
              <button type="button" className="link" onClick={() => open(each.id)}>
                {personName(each)}
              </button>
            ),
          },
          { title: 'Relationship', cell: (each) => relationshipText(each) || '–' },
          { title: 'Email', cell: ({ email }) => email ?? '–' },
          {
            title: 'Requirements',
            className: 'wide',
            cell: ({ id }) => <Owed entries={entriesOf(account, id)} />,
          },
          { title: 'Id', cell: ({ id }) => <code>{id}</code> },
          {
            ...ACTIONS,
            cell: (each) => (
              <button
                type="button"
                className="button small"
                disabled={refusal !== undefined}
                title={refusal}
                aria-label={`Delete ${personName(each)}`}
                onClick={() => setGoing(each)}
              >
                Delete
              </button>
            ),
          },
        ]}
        empty={
          loaded.length > 0
            ? 'None of the loaded persons match.'
            : 'No persons yet. Create a person for each representative, owner, director and executive of a business.'
        }
      />
      {loaded.length > 0 && (
        <p className="hint soft row" role="status">
          {pages.hasNextPage
            ? `${countText(shown.length)} of ${countText(loaded.length)} loaded persons`
            : countOf(shown.length, 'person')}
          <ShowMore pages={pages} />
        </p>
      )}
      {person !== '' && (
        <PersonDrawer {...{ tenant, account }} id={person} onClose={() => open('')} />
      )}
      {going !== undefined && (
        <ConfirmDelete
          what="person"
          name={personName(going)}
          loss="The person and all their data are deleted from the account."
          onClose={() => setGoing(undefined)}
          act={async () => {
            await deletePerson(tenant, account.id, going.id);
            await changed('Person deleted');
          }}
        />
      )}
    </>
  );
}

const refusalOf = ({ closed, identity }: Account): string | undefined => {
  if (closed) return 'A closed account cannot be changed';
  return identity?.entity_type === 'individual'
    ? 'For an individual, edit the fields “Identity: individual” of the account'
    : undefined;
};

export const entriesOf = (account: Account, person: string): readonly Requirement[] =>
  (account.requirements?.entries ?? []).filter(({ reference }) => reference?.resource === person);

/** `representative, owner (25 %)`. */
function relationshipText({ relationship = {} }: Person): string {
  const { percent_ownership, title, ...roles } = relationship;
  const names = Object.keys(roles).filter((name) => roles[name] === true);
  const shown = names.map((name) =>
    name === 'owner' && percent_ownership !== undefined
      ? `owner (${percent_ownership} %)`
      : statusText(name),
  );
  return [...(title === undefined ? [] : [String(title)]), ...shown].join(', ');
}

function Owed({ entries }: { readonly entries: readonly Requirement[] }) {
  if (entries.length === 0) return <>–</>;
  return (
    <>
      {requirementSummary(entries)}
      <div className="hint soft">
        {entries.map(({ description }) => fieldName(description)).join(', ')}
      </div>
    </>
  );
}

/** @param only shows only the fields at and below this path. */
export function PersonDrawer(
  props: Props & { readonly id: string; readonly only?: string; readonly onClose: () => void },
) {
  const { tenant, account, id, only, onClose } = props;
  const isNew = id === NEW;
  const { schemas, fields } = useRequestFields(isNew ? 'PersonCreate' : 'PersonUpdate');
  const fetchStored = () => fetchPerson(tenant, account.id, id);
  const stored = useQuery({
    queryKey: ['accounts', 'person', tenant.platform, account.id, id],
    queryFn: fetchStored,
    enabled: !isNew,
  });
  const { changed } = useChanges('accounts');
  const shown = fields?.filter((field) => only === undefined || isAtField(field, only));
  const title = isNew
    ? 'Create person'
    : stored.data
      ? personName(stored.data.object as never) // the server returns a person
      : id;
  return (
    <Dialog title={title} isOpen isDrawer onClose={onClose}>
      <QueryProblem of={schemas} />
      <QueryProblem of={stored} />
      {!isNew && (
        <div className="row wrap">
          <span className="grow">
            Requirements: <Owed entries={entriesOf(account, id)} />
          </span>
          <Link
            to="/accounts/$platform/$account"
            params={{ platform: tenant.platform, account: account.id }}
            search={{ tab: 'events', person: id }}
          >
            Events
          </Link>
        </div>
      )}
      {shown && (isNew || stored.data) && (
        <ObjectEditor
          what="person"
          draftKey={`person ${account.id} ${id} ${only ?? ''}`}
          fields={shown}
          stored={stored.data}
          action={isNew ? 'Create person' : 'Save'}
          refusal={refusalOf(account)}
          {...(!isNew && { fetchStored })}
          save={async ({ body, etag }) => {
            if (isNew) await createPerson(tenant, account.id, body);
            else await savePerson(tenant, { account: account.id, id }, { body, etag });
            onClose();
            await changed(isNew ? 'Person created' : 'Person saved');
          }}
        />
      )}
    </Dialog>
  );
}
