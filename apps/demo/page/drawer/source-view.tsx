import { type VNode } from 'preact';
import { tint } from './tint.js';

interface SourceViewProps {
  readonly file: string;
  readonly source: string;
}

/** Renders the lines of the controller that declare a route. */
export function SourceView({ file, source }: SourceViewProps): VNode {
  return (
    <div class="source">
      <h4>{file}</h4>
      <pre tabIndex={0} role="region" aria-label="Source of the route">
        <code>
          {tint(source).map(({ kind, text }, at) => (
            <span key={at} class={kind}>
              {text}
            </span>
          ))}
        </code>
      </pre>
    </div>
  );
}
