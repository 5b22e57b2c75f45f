import {
  accountFaultsOf,
  advanceClock,
  createClock,
  deleteClock,
  fetchClockAccounts,
  fetchClocks,
} from '@plinth/console-core/api/accounts.js';
import type { TestClock } from '@plinth/console-core/lib/account.js';
import { addMonth, parseAbsolute } from '@plinth/console-core/lib/time/time-text.js';
import { secondsText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDelete } from '../../components/controls/confirm-delete.js';
import { ACTIONS, DataTable } from '../../components/controls/data-table.js';
import { FormDialog } from '../../components/controls/form-dialog.js';
import { Icon } from '../../components/controls/icon.js';
import { QueryProblem } from '../../components/controls/problem-note.js';
import { TextField } from '../../components/controls/text-field.js';
import { useChanges } from '../../components/controls/use-changes.js';
import { usePlatform } from './use-platform.js';

const nameOf = ({ name, id }: TestClock): string => name ?? id;
/** The accounts of each clock are fetched with their own request. */
const MAX_DETAILED = 20;

/** The test clocks of a platform and the accounts that use them. */
export function TestClocksPage() {
  const { platform } = usePlatform();
  const tenant = { platform, isLive: false };
  const [open, setOpen] = useState<
    { readonly action: 'create' } | { readonly action: 'advance' | 'delete'; clock: TestClock }
  >();
  const clocks = useQuery({
    queryKey: ['accounts', 'clocks', platform],
    queryFn: () => fetchClocks(tenant),
    enabled: platform !== '',
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'advancing') === true ? 1000 : false,
  });
  const { changed } = useChanges('accounts');
  const close = () => setOpen(undefined);
  return (
    <div className="page">
      <header className="page-head">
        <nav aria-label="Breadcrumb">
          <Link to="/accounts" search={{ platform }}>
            Accounts
          </Link>
        </nav>
        <h1 tabIndex={-1}>Test clocks</h1>
        <button
          type="button"
          className="button primary end"
          onClick={() => setOpen({ action: 'create' })}
        >
          <Icon name="plus" size={14} /> Create test clock
        </button>
      </header>
      <QueryProblem of={clocks} />
      <DataTable
        label="Test clocks"
        rows={clocks.data?.data}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Test clock', cell: nameOf },
          { title: 'Id', cell: ({ id }) => <code>{id}</code> },
          {
            title: 'Frozen time (UTC)',
            className: 'nowrap',
            cell: ({ frozen_time }) => secondsText(frozen_time),
          },
          {
            title: 'Status',
            cell: ({ status }) => (
              <span className={`chip ${status === 'ready' ? '' : 'warn'}`}>{status}</span>
            ),
          },
          {
            title: 'Accounts',
            cell: ({ id }, index) => (
              <ClockAccounts platform={platform} clock={id} isLoaded={index < MAX_DETAILED} />
            ),
          },
          {
            ...ACTIONS,
            cell: (clock) => (
              <span className="row">
                <button
                  type="button"
                  className="button small"
                  disabled={clock.status !== 'ready'}
                  title={clock.status === 'ready' ? undefined : 'The test clock is advancing'}
                  aria-label={`Advance ${nameOf(clock)}`}
                  onClick={() => setOpen({ action: 'advance', clock })}
                >
                  Advance
                </button>
                <button
                  type="button"
                  className="button small"
                  aria-label={`Delete ${nameOf(clock)}`}
                  onClick={() => setOpen({ action: 'delete', clock })}
                >
                  Delete
                </button>
              </span>
            ),
          },
        ]}
        empty="No test clocks yet. A test clock advances the time of test-mode customers, so that you can test deadlines without waiting."
      />
      <p className="hint soft">
        {clocks.data?.has_more === true && 'Only the newest 100 test clocks are listed. '}
        To use a test clock, set “Test clock” when you create an account with a customer
        configuration. Each clock can have up to 3 open accounts.
      </p>
      {open?.action === 'create' && (
        <ClockDialog
          title="Create test clock"
          action="Create"
          frozen={Math.floor(Date.now() / 1000)}
          hasName
          onClose={close}
          act={async (clock) => {
            await createClock(tenant, clock);
            await changed('Test clock created');
          }}
        />
      )}
      {open?.action === 'advance' && (
        <ClockDialog
          title={`Advance ${nameOf(open.clock)}`}
          action="Advance"
          frozen={open.clock.frozen_time}
          onClose={close}
          act={async ({ frozen_time }) => {
            await advanceClock(tenant, open.clock.id, frozen_time);
            await changed('Test clock advanced');
          }}
        />
      )}
      {open?.action === 'delete' && (
        <ConfirmDelete
          what="test clock"
          name={nameOf(open.clock)}
          loss="All accounts that use this test clock are closed. A closed account cannot be changed or reopened."
          onClose={close}
          act={async () => {
            await deleteClock(tenant, open.clock.id);
            await changed('Test clock deleted');
          }}
        />
      )}
    </div>
  );
}

function ClockAccounts(props: {
  readonly platform: string;
  readonly clock: string;
  readonly isLoaded: boolean;
}) {
  const { platform, clock } = props;
  const [isLoaded, setIsLoaded] = useState(props.isLoaded);
  const { data } = useQuery({
    queryKey: ['accounts', 'clock', platform, clock],
    queryFn: () => fetchClockAccounts(platform, clock),
    enabled: isLoaded,
  });
  if (!isLoaded)
    return (
      <button type="button" className="button small" onClick={() => setIsLoaded(true)}>
        Show
      </button>
    );
  if (data === undefined) return null;
  if (data.length === 0) return <>none</>;
  return data.map(({ id, display_name }) => (
    <div key={id} className="row">
      <Link to="/accounts/$platform/$account" params={{ platform, account: id }}>
        {display_name ?? id}
      </Link>
    </div>
  ));
}

const HOUR = 3600;
const STEPS = [
  ['+1 hour', (seconds: number) => seconds + HOUR],
  ['+1 day', (seconds: number) => seconds + 24 * HOUR],
  ['+1 month', addMonth],
] as const;

function ClockDialog(props: {
  readonly title: string;
  readonly action: string;
  /** The time at first, in seconds since 1970. */
  readonly frozen: number;
  readonly hasName?: boolean;
  readonly onClose: () => void;
  readonly act: (clock: { readonly name: string; readonly frozen_time: number }) => Promise<void>;
}) {
  const { title, action, frozen, hasName = false, onClose, act } = props;
  const [name, setName] = useState('');
  const [time, setTime] = useState(secondsText(frozen));
  const ms = parseAbsolute(time);
  const seconds = ms === undefined ? undefined : Math.floor(ms / 1000);
  const faultAt = (error: unknown): string | undefined =>
    accountFaultsOf(error).find(({ path }) => path === '/frozen_time')?.message;
  return (
    <FormDialog
      title={title}
      action={action}
      canAct={seconds !== undefined}
      isAtField={(error) => faultAt(error) !== undefined}
      onClose={onClose}
      act={async () => {
        await act({ name, frozen_time: seconds ?? 0 });
        onClose();
      }}
    >
      {(error) => (
        <>
          {hasName && <TextField label="Name" value={name} onChange={setName} hint="Optional" />}
          <TextField
            label="Frozen time (UTC)"
            isCode
            value={time}
            onChange={setTime}
            mistake={
              seconds === undefined
                ? 'Invalid time; enter a time such as 2026-12-31 23:59:00.'
                : faultAt(error)
            }
          />
          <div className="row wrap">
            {STEPS.map(([label, step]) => (
              <button
                key={label}
                type="button"
                className="button small"
                onClick={() => setTime(secondsText(step(seconds ?? frozen)))}
              >
                {label}
              </button>
            ))}
          </div>
        </>
      )}
    </FormDialog>
  );
}
