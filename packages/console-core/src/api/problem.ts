/** An error response of the server with its message, or a request that received no response. */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** 0 when the server did not respond. */
  readonly status: number;
  /** The request as a curl command, without the token. */
  readonly curl: string;
  /** The complete response body. */
  readonly body: string;
  /** The field of the request that the error refers to, if the server names one. */
  readonly field: string | undefined;

  constructor(
    message: string,
    options: {
      readonly status: number;
      readonly curl: string;
      readonly body?: string;
      /** The field of the request that the error refers to. */
      readonly field?: string | undefined;
    },
  ) {
    super(message);
    this.status = options.status;
    this.curl = options.curl;
    this.body = options.body ?? '';
    this.field = options.field;
  }
}

/** Returns the error message in a response body, for the error formats of all services. */
export function messageOf(body: string, status: number): string {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) {
      const { error, message, data, errors } = value as Record<string, unknown>;
      const lines = Array.isArray(data) ? `\n${data.map(lineOf).join('\n')}` : '';
      const fields = Array.isArray(errors) ? `\n${errors.map(fieldOf).join('\n')}` : '';
      if (typeof error === 'string') return error + lines;
      if (typeof message === 'string') return message + fields;
      if (typeof error === 'object' && error !== null && 'message' in error) {
        return String(error.message);
      }
    }
  } catch {
    // The body is plain text.
  }
  return body.trim() || `the server returned ${status} without a message`;
}

/** Returns the field that an error of the time-series service refers to. */
export function fieldIn(body: string): string | undefined {
  try {
    const { data } = Object(JSON.parse(body)) as { readonly data?: unknown };
    const { field } = Object(data) as { readonly field?: unknown };
    return typeof field === 'string' ? field : undefined;
  } catch {
    return undefined; // The body is plain text.
  }
}

function lineOf(value: unknown): string {
  const { line_number, error_message, original_line } = Object(value) as Record<string, unknown>;
  return `line ${line_number}: ${error_message} — ${original_line}`;
}

function fieldOf(value: unknown): string {
  const { field, code, message } = Object(value) as Record<string, unknown>;
  return `${field}: ${message ?? code}`;
}
