import type { App, RetryPolicy } from '@plinth/console-core/api/webhooks.js';
import { countOf } from '@plinth/console-core/lib/units.js';
import {
  attemptsOf,
  delaysText,
  delayText,
  MAX_RETRY_COUNT,
  parseDelays,
  timeOfAttempt,
} from '@plinth/console-core/lib/webhooks/retry-schedule.js';
import { useState } from 'react';
import { TextField } from '../../components/controls/text-field.js';

type Kind = 'default' | RetryPolicy['policy'];
const KINDS: readonly (readonly [Kind, string])[] = [
  ['default', 'Server default'],
  ['none', 'No retries'],
  ['standard', 'Standard schedule'],
  ['schedule', 'Custom schedule'],
];
const FIRST_DELAYS = [5, 300, 3600];

/** @returns null for the default of the server, and undefined while the delays are invalid. */
function policyOf(kind: Kind, text: string): RetryPolicy | null | undefined {
  if (kind === 'default') return null;
  if (kind !== 'schedule') return { policy: kind };
  const schedule = parseDelays(text);
  return schedule && { policy: kind, schedule };
}

/** Chooses the retry policy of a webhook, and draws when failed events are retried. */
export function RetryFields(props: {
  readonly hook: App['hook'];
  readonly onChange: (retry: RetryPolicy | null | undefined) => void;
}) {
  const { hook, onChange } = props;
  const [kind, setKind] = useState<Kind>(hook?.retry?.policy ?? 'default');
  const [text, setText] = useState(delaysText(hook?.retry?.schedule ?? FIRST_DELAYS));
  const typed = parseDelays(text);
  const change = (nextKind: Kind, nextText: string): void => {
    setKind(nextKind);
    setText(nextText);
    onChange(policyOf(nextKind, nextText));
  };
  const delays = {
    ...{ default: hook?.retry_delays?.default, standard: hook?.retry_delays?.standard },
    ...{ none: [], schedule: typed },
  }[kind];
  return (
    <>
      <div className="field">
        <label htmlFor="retry-policy">Retries</label>
        <select
          id="retry-policy"
          className="input"
          value={kind}
          onChange={({ target }) =>
            change(KINDS.find(([each]) => each === target.value)?.[0] ?? kind, text)
          }
        >
          {KINDS.map(([each, label]) => (
            <option key={each} value={each}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {kind === 'schedule' && (
        <TextField
          label="Delay before each retry"
          isCode
          value={text}
          onChange={(next) => change(kind, next)}
          mistake={
            typed === undefined
              ? `Invalid delays; use up to ${MAX_RETRY_COUNT} delays of at most 7d each, such as 5s, 5m, 2h.`
              : undefined
          }
        />
      )}
      {delays && <RetrySchedule delaysSec={delays} hasJitter={kind === 'standard'} />}
    </>
  );
}

/** Draws the attempts on a line. Longer delays are wider, but not in proportion. */
function RetrySchedule(props: {
  readonly delaysSec: readonly number[];
  readonly hasJitter: boolean;
}) {
  const { delaysSec, hasJitter } = props;
  const attempts = attemptsOf(delaysSec);
  const last = attempts.at(-1)?.atSec ?? 0;
  return (
    <figure className="retry" aria-label="Retry schedule">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <section className="retry-scroll" aria-label="Attempts" tabIndex={0}>
        <ol>
          {attempts.map(({ name, delaySec, atSec }, index) => (
            <li key={name} style={{ flexGrow: 1 + Math.log10(1 + (delaysSec[index] ?? 0)) }}>
              <span className="retry-name">{name}</span>
              <span className="soft">{index === 0 ? 'at once' : `+ ${delayText(delaySec)}`}</span>
              {index > 1 && <span className="soft">{timeOfAttempt(atSec)}</span>}
            </li>
          ))}
        </ol>
      </section>
      <figcaption className="hint soft">
        {delaysSec.length === 0
          ? 'One attempt. Failed events are not retried, but you can redeliver them.'
          : `${countOf(attempts.length, 'attempt')} within ${delayText(last)}. ` +
            'After the last failure, the event is dead and can be redriven. ' +
            (hasJitter ? 'Delays vary by ± 20 %. ' : '') +
            'A Retry-After header from the receiver can extend a delay.'}
      </figcaption>
    </figure>
  );
}
