import { TextField } from '../../components/controls/text-field.js';

export const isHookUrl = (url: string): boolean => /^https?:\/\/\S+$/.test(url.trim());

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
  return (
    <>
      <TextField
        label="URL"
        isCode
        value={url}
        onChange={onUrl}
        placeholder="https://ci.example.com/hook"
        mistake={
          isUrlRight ? undefined : 'Invalid URL; use one that starts with https:// or http://.'
        }
        hint={urlHint}
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
