/** Objects that the operator creates and accounts refer to. Source: accounts, section 18. */
export type RegisteredObjectKind = 'file' | 'payment_method' | 'invoice_template' | 'test_clock';

export interface RegisteredFile {
  readonly id: string;
  readonly purpose: string;
  readonly filename: string;
  readonly size: number;
  readonly livemode: boolean;
  readonly account?: string;
  readonly deleted: boolean;
}

export interface RegisteredPaymentMethod {
  readonly id: string;
  readonly type: string;
  readonly livemode: boolean;
  readonly account?: string;
  readonly detached: boolean;
}

export interface RegisteredInvoiceTemplate {
  readonly id: string;
  readonly livemode: boolean;
  readonly archived: boolean;
}

export interface TestClock {
  readonly id: string;
  readonly name: string | null;
  /** Time in Unix seconds. */
  readonly frozen_time: number;
  readonly created: number;
  readonly deletes_after: number;
  /** The test clock is advancing until the server's clock reaches this time. */
  readonly advancesUntilMs: number;
}

export type RegisteredObject =
  | RegisteredFile
  | RegisteredPaymentMethod
  | RegisteredInvoiceTemplate
  | TestClock;
