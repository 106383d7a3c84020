import { type VNode } from 'preact';
import { type RouteSources } from '../../src/console/messages.js';
import { type Exchange } from '../backend/exchange.js';
import { explain } from '../backend/explain.js';
import { duration } from '../text.js';
import { SourceView } from './source-view.js';
import { StatusChip } from './status-chip.js';

interface ExchangeViewProps {
  readonly pane: string;
  readonly exchange: Exchange;
  readonly source: RouteSources[string] | undefined;
}

/** Renders a request, its reply with an explanation, and the lines of the controller that declare the route. */
export function ExchangeView({ pane, exchange, source }: ExchangeViewProps): VNode {
  const reply = [...[exchange.statusText, exchange.headers].filter(Boolean), '', exchange.body || '(no body)'];
  return (
    <div class="exchange" data-class={String(exchange.status).charAt(0)}>
      <p class="why">
        <code>{exchange.route}</code> <StatusChip status={exchange.status} text={exchange.statusText} />{' '}
        <small class="took">{duration(exchange.tookMs)} in this browser</small> <span class="because">{explain(exchange)}</span>
      </p>
      <div class="both">
        <div class="wire">
          <Block label={`Request of user ${pane}`} title="Request" text={exchange.request} />
          <Block label={`Reply to user ${pane}`} title="Reply" text={reply.join('\n')} />
        </div>
        {source && <SourceView pane={pane} file={source.file} source={source.source} />}
      </div>
    </div>
  );
}

function Block({ label, title, text }: { readonly label: string; readonly title: string; readonly text: string }): VNode {
  return (
    <div>
      <h4>{title}</h4>
      <pre class="wrap" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
    </div>
  );
}
