/** The record of one attempt. */
export interface DeliverySummary {
  readonly id: number;
  readonly appId: number;
  readonly guid: string;
  readonly deliveredMs: number;
  readonly redelivery: boolean;
  readonly durationMs: number;
  readonly status: string;
  readonly status_code: number;
  readonly event: string;
  readonly action: string | undefined;
  readonly installation_id: number | undefined;
  readonly repository_id: number | undefined;
  readonly throttledSinceMs: number | undefined;
  /**
   * Number of the attempt, starting at 1, and at 1 again for each redelivery. Undefined in records
   * of earlier versions.
   */
  readonly attemptNo: number | undefined;
}

export interface DeliveryDetail extends DeliverySummary {
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>> | undefined;
  /** The JSON text that was sent; undefined after its retention period. */
  readonly requestPayload: Uint8Array | undefined;
  /** Undefined when there was no response. */
  readonly responseHeaders: Readonly<Record<string, string>> | undefined;
  readonly responseBody: Uint8Array | undefined;
  /** Undefined when there was no response, and in records of earlier versions. */
  readonly isResponseTruncated: boolean | undefined;
  /** The exact error, shown only to operators. */
  readonly error: string | undefined;
}

/** Result of one attempt. */
export interface AttemptRecord {
  readonly deliveredMs: number;
  readonly durationMs: number;
  readonly status: string;
  readonly status_code: number;
  readonly throttledSinceMs: number | undefined;
  readonly url: string;
  /** Undefined when nothing was sent. */
  readonly requestHeaders: Readonly<Record<string, string>> | undefined;
  readonly responseHeaders: Readonly<Record<string, string>> | undefined;
  readonly responseBody: Uint8Array | undefined;
  /**
   * Whether the stored body is only the beginning of the response. Undefined when there was no
   * response.
   */
  readonly isResponseTruncated: boolean | undefined;
  readonly error: string | undefined;
}

export interface DeliveryFilter {
  readonly redelivery?: boolean;
  readonly status?: 'success' | 'failure';
  readonly event?: string;
  readonly action?: string;
  readonly guid?: string;
  readonly installation_id?: number;
  readonly repository_id?: number;
  /** Inclusive bound. */
  readonly sinceMs?: number;
  /** Inclusive bound. */
  readonly untilMs?: number;
}

/** Recent attempts of an app. */
export interface DeliveryFigures {
  readonly count: number;
  readonly failedCount: number;
  /** 95th percentile of the duration; undefined without attempts. */
  readonly p95Ms: number | undefined;
}

/** Attempts of an app that started in one time bucket. */
export interface DeliveryCount {
  readonly appId: number;
  readonly bucketMs: number;
  /** Attempts with a 2xx status. */
  readonly succeededCount: number;
  readonly failedCount: number;
}
