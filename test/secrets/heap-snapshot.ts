/**
 * A string that contains a text, and its retainer: the kind of edge, its name, and the object it starts from.
 */
export interface Retained {
  readonly value: string;
  readonly retainers: readonly string[];
}

interface Snapshot {
  readonly snapshot: {
    readonly meta: Readonly<Record<'node_fields' | 'edge_fields', string[]>> &
      Readonly<Record<'node_types' | 'edge_types', [string[], ...unknown[]]>>;
  };
  readonly nodes: number[];
  readonly edges: number[];
  readonly strings: string[];
}

const STRINGS = ['string', 'concatenated string', 'sliced string'];

/**
 * Finds the strings of a V8 heap snapshot that contain a text, with their retainers. Weak edges retain
 * nothing.
 */
export function retainersIn(json: string, text: string): Retained[] {
  const { snapshot, nodes, edges, strings } = JSON.parse(json) as Snapshot;
  const { node_fields: ofNode, edge_fields: ofEdge, node_types: kinds, edge_types: links } = snapshot.meta;
  const nodeAt = (node: number, field: string): number => nodes[node + ofNode.indexOf(field)] ?? -1;
  const edgeAt = (edge: number, field: string): number => edges[edge + ofEdge.indexOf(field)] ?? -1;
  const kindOf = (node: number): string => kinds[0][nodeAt(node, 'type')] ?? '';
  const nameOf = (node: number): string => strings[nodeAt(node, 'name')] ?? '';

  const found = new Map<number, string[]>();
  for (let node = 0; node < nodes.length; node += ofNode.length)
    if (STRINGS.includes(kindOf(node)) && nameOf(node).includes(text)) found.set(node, []);
  let edge = 0;
  for (let node = 0; node < nodes.length; node += ofNode.length) {
    const end = edge + nodeAt(node, 'edge_count') * ofEdge.length;
    for (; edge < end; edge += ofEdge.length) {
      const retainers = found.get(edgeAt(edge, 'to_node'));
      const kind = links[0][edgeAt(edge, 'type')] ?? '';
      if (!retainers || kind === 'weak') continue;
      const name = edgeAt(edge, 'name_or_index');
      const label = kind === 'element' || kind === 'hidden' ? String(name) : (strings[name] ?? '');
      retainers.push(`${kind} ${label} of ${kindOf(node)} ${nameOf(node).slice(0, 100)}`);
    }
  }
  return [...found].map(([node, retainers]) => ({ value: nameOf(node), retainers }));
}
