/** The style of the page at /api, in the colours of the explorer. */
export const apiStyle = `:root {
	color-scheme: light dark;
	--ground: light-dark(#f4f6f9, #0f141a);
	--surface: light-dark(#ffffff, #171e26);
	--shade: light-dark(#eff3f7, #1e2732);
	--ink: light-dark(#1c2430, #e7ecf2);
	--quiet: light-dark(#525d6b, #a7b3c0);
	--line: light-dark(#c9d1da, #3b4856);
	--accent: light-dark(#0072b2, #58b6ee);
	--on-accent: light-dark(#ffffff, #08131b);
	--warn: light-dark(#8a6100, #f0c04a);
}
* { box-sizing: border-box; }
body {
	margin: 0 auto;
	padding: 16px clamp(12px, 3vw, 32px) 64px;
	max-width: 1100px;
	background: var(--ground);
	color: var(--ink);
	font: 15px/1.5 Arial, "Liberation Sans", Arimo, Helvetica, sans-serif;
}
h1 { margin: 0; font-size: 24px; }
h2 { margin: 0 0 4px; font-size: 18px; overflow-wrap: anywhere; }
h3 { margin: 0 0 4px; font-size: 15px; }
#schemas { margin: 32px 0 8px; }
a { color: var(--accent); }
p { margin: 6px 0; }
code, pre, textarea { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.links { display: flex; flex-wrap: wrap; gap: 4px 16px; color: var(--quiet); }
.population { color: var(--warn); font-weight: bold; }
nav ul { display: grid; gap: 2px; padding: 0; list-style: none; }
nav li { display: grid; grid-template-columns: minmax(0, 270px) minmax(0, 1fr); gap: 2px 16px; }
nav span { color: var(--quiet); }
section {
	margin-top: 16px;
	padding: 16px;
	background: var(--surface);
	border: 1px solid var(--line);
	border-radius: 8px;
}
h2 b { color: var(--accent); }
h2 code { font-size: 17px; }
.scroll { overflow-x: auto; }
table { width: 100%; margin: 8px 0; border-collapse: collapse; font-size: 14px; }
caption { padding: 2px 0; color: var(--quiet); text-align: left; }
th, td { padding: 4px 12px 4px 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
th[scope="row"] { font-weight: normal; white-space: nowrap; }
thead th { border-top: 0; color: var(--quiet); font-weight: normal; }
label { display: block; color: var(--quiet); font-size: 14px; }
textarea, input {
	display: block;
	width: 100%;
	margin-top: 2px;
	padding: 8px;
	border: 1px solid var(--line);
	border-radius: 6px;
	background: var(--shade);
	color: var(--ink);
}
input { max-width: 320px; font: inherit; }
button {
	padding: 6px 20px;
	border: 0;
	border-radius: 6px;
	background: var(--accent);
	color: var(--on-accent);
	font: inherit;
	font-weight: bold;
	cursor: pointer;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.status { margin-left: 8px; }
.none { color: var(--quiet); }
pre {
	max-height: 420px;
	margin: 6px 0;
	padding: 8px;
	overflow: auto;
	border-radius: 6px;
	background: var(--shade);
}
details { margin-top: 6px; }
summary { color: var(--quiet); cursor: pointer; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 640px) {
	nav li { grid-template-columns: minmax(0, 1fr); margin-bottom: 6px; }
	section { padding: 12px; }
	th[scope="row"] { white-space: normal; }
	table { min-width: 460px; }
}
`;
