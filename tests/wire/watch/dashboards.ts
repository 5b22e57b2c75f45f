import { readFileSync } from 'node:fs';
import { packaged } from './prometheus.js';

export interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets?: readonly { readonly expr?: string; readonly query?: string }[];
}

export interface Dashboard {
  readonly schemaVersion: number;
  readonly uid: string;
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query: unknown;
      readonly definition?: string;
    }[];
  };
  readonly panels: readonly Panel[];
}

export const DASHBOARDS = ['plinth-prometheus', 'plinth-influxql'] as const;

export const readDashboard = (name: (typeof DASHBOARDS)[number]): Dashboard =>
  JSON.parse(readFileSync(packaged(`grafana/${name}.json`), 'utf8')) as Dashboard;

/** Returns every query of every panel, with Grafana's variables filled in. */
export function queriesOf(
  { panels }: Dashboard,
  variables: Readonly<Record<string, string>>,
): readonly { readonly title: string; readonly text: string }[] {
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, query = '' }) => ({
      title,
      text: Object.entries(variables).reduce(
        (text, [name, value]) => text.replaceAll(name, value),
        expr ?? query,
      ),
    })),
  );
}
