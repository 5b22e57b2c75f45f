/** A server-sent event. Without `data`, it only changes the position. */
export interface StreamEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** A longer event does not come from this server. */
const MAX_EVENT_LENGTH = 512 * 1024 * 1024;

/**
 * Parses the events of this server, which end lines with LF.
 * @param onBytes called when data arrives.
 */
export async function* eventsOf(
  pieces: AsyncIterable<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let waiting: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    onBytes();
    const text = decoder.decode(piece, { stream: true });
    if (text === '') continue;
    // The end of an event may be cut between two pieces.
    const isCutEnd = text.startsWith('\n') && waiting.at(-1)?.endsWith('\n') === true;
    waiting.push(text);
    length += text.length;
    if (length > MAX_EVENT_LENGTH) throw new Error('an event of the stream is too long');
    if (!isCutEnd && !text.includes('\n\n')) continue;
    const events = waiting.join('').split('\n\n');
    const rest = events.pop() ?? '';
    waiting = [rest];
    length = rest.length;
    for (const event of events) yield parseEvent(event);
  }
}

function parseEvent(text: string): StreamEvent {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of text.split('\n')) {
    const [, field, value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') event = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
  return { event: data.length === 0 ? '' : event, id, data: data.join('\n') };
}
