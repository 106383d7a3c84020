import { type VNode } from 'preact';
import { type RouteSources } from '../../src/console/messages.js';
import { type Exchange } from '../backend/exchange.js';
import { explain } from '../backend/explain.js';
import { ExchangeView } from './exchange-view.js';

interface LastExchangeProps {
  readonly pane: string;
  readonly exchange: Exchange | undefined;
  readonly sources: RouteSources | undefined;
}

/** Renders the last call and its reply. Screen readers announce it with its number, since they would skip a repeated text. */
export function LastExchange({ pane, exchange, sources }: LastExchangeProps): VNode {
  return (
    <>
      <h3>Last exchange</h3>
      <p class="visually-hidden" aria-live="polite">
        {exchange && `Call ${exchange.number}: ${exchange.route}: ${exchange.statusText}. ${explain(exchange)}`}
      </p>
      {exchange ? (
        <ExchangeView pane={pane} exchange={exchange} source={sources?.[exchange.route]} />
      ) : (
        <p class="hint">Nothing yet. Sign in and try a route, or try one without a session to see a denial.</p>
      )}
    </>
  );
}
