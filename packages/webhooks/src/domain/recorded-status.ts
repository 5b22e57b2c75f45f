import type { Outcome } from '@plinth/kernel';

/** Returns the status text and code of a delivery record. Source: webhooks, section 5.4. */
export function statusOf(outcome: Outcome): {
  readonly status: string;
  readonly status_code: number;
} {
  switch (outcome.kind) {
    case 'answered': {
      const { statusCode } = outcome;
      const isOk = statusCode >= 200 && statusCode <= 299;
      const status = isOk ? 'OK' : `Invalid HTTP Response: ${statusCode}`;
      return { status, status_code: statusCode };
    }
    case 'informational_only': {
      const code = outcome.statusCode ?? 100;
      return { status: `Invalid HTTP Response: ${code}`, status_code: code };
    }
    case 'timed_out':
      return { status: 'timed out', status_code: 504 };
    case 'host_unreachable':
      return { status: 'failed to connect to host', status_code: 502 };
    case 'connection_lost':
      return { status: 'failed to connect to network', status_code: 502 };
    case 'certificate_refused':
      return {
        status: 'Peer certificate cannot be authenticated with given CA certificates',
        status_code: 502,
      };
    case 'tls_failed':
      return { status: 'SSL connect error', status_code: 502 };
    case 'not_http':
      return { status: 'Invalid HTTP Response: 0', status_code: 502 };
  }
}
