import { TextField } from '../../components/controls/text-field.js';
import { useTargetCheck } from './use-target-check.js';

export const isHookUrl = (url: string): boolean =>
  /^https?:\/\/\S+$/i.test(url.trim()) && URL.canParse(url.trim());

export const eventList = (events: string): readonly string[] =>
  events
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** The URL and the events of a webhook. */
export function HookFields(props: {
  readonly url: string;
  readonly onUrl: (url: string) => void;
  readonly isUrlRight: boolean;
  readonly urlHint?: string;
  readonly events: string;
  readonly onEvents: (events: string) => void;
}) {
  const { url, onUrl, isUrlRight, urlHint, events, onEvents } = props;
  const { problem, isAllowed } = useTargetCheck(
    // Credentials, path and query stay in the page.
    isHookUrl(url) ? new URL(url.trim()).origin : '',
  );
  const isPlain = /^http:/i.test(url.trim());
  return (
    <>
      <TextField
        label="URL"
        isCode
        value={url}
        onChange={onUrl}
        placeholder="https://ci.example.com/hook"
        mistake={
          isUrlRight
            ? problem && sentence(problem)
            : 'Invalid URL; use one that starts with https:// or http://.'
        }
        hint={
          isAllowed ? (
            <>
              <span className="allowed">✓ Deliveries to this host are allowed.</span>
              {isPlain && ' Without https, others on the network can read the deliveries.'}
            </>
          ) : (
            urlHint
          )
        }
      />
      <TextField
        label="Events"
        isCode
        value={events}
        onChange={onEvents}
        hint={
          <>
            <code>push, issues</code>, or <code>*</code> for all
          </>
        }
      />
    </>
  );
}

const sentence = (problem: string): string =>
  `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;
