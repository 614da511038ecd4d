import { darkRules } from "../charts/theme.js";

/** The style sheet: light and dark, screen and print. Contains no characters with a meaning in HTML. */
export const style = `
:root {
	color-scheme: light dark;
	--ink: #1c2430; --quiet: #5a6472; --line: #dde2e8; --paper: #ffffff; --wash: #f4f6f8; --card: #ffffff; --accent: #0b5f99; --warm: #8a4b08;
	font: 100%/1.55 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
	-webkit-text-size-adjust: 100%;
}
@media (prefers-color-scheme: dark) {
	:root { --ink: #e7eaef; --quiet: #a5afbb; --line: #2f3742; --paper: #101318; --wash: #1a1f26; --card: #171b21; --accent: #7fbdf0; --warm: #e3a857; }
	${darkRules}
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--paper); color: var(--ink); }
header, main, footer { max-width: 82rem; margin: 0 auto; padding: 0 1.25rem; }
p, ul, ol, dl.terms { max-width: 42rem; }
p { margin: 0.6rem 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: 0.5rem; }
header { padding-top: 1rem; }
.kicker { margin: 0; color: var(--quiet); font-size: 0.9rem; letter-spacing: 0.02em; }
h1 { margin: 0.2rem 0 0.3rem; font-size: clamp(1.6rem, 1.2rem + 1.6vw, 2.1rem); line-height: 1.15; letter-spacing: -0.02em; text-wrap: balance; }
.lead { font-size: 1.05rem; max-width: 70rem; text-wrap: pretty; }
h2 { margin: 0 0 0.4rem; font-size: 1.3rem; line-height: 1.25; letter-spacing: -0.01em; }
h3 { margin: 2rem 0 0.4rem; font-size: 1.1rem; line-height: 1.3; }
section { margin-top: 1.3rem; min-width: 0; }
section.findings { margin-top: 1.2rem; }
.halves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 37.8rem), 1fr)); gap: 0 2.5rem; }
.halves figure { margin: 0.4rem 0 0; }
.halves table { margin-top: 0.6rem; }
.halves th, .halves td { padding: 0.26rem 1rem 0.26rem 0; }
.halves tr.band th { padding-top: 0.5rem; }
.halves figcaption { margin-top: 0.3rem; }
.surprises { margin: 0.8rem 0 0; padding: 0; list-style: none; }
.surprises li { padding: 0.4rem 0.8rem; border-left: 3px solid var(--warm); background: var(--wash); font-size: 0.9rem; }
#limits + ul { margin: 0; columns: 2 26rem; column-gap: 2.5rem; max-width: none; padding-left: 1.2rem; font-size: 0.94rem; }
#limits + ul li { break-inside: avoid; }
.findings ul { list-style: none; margin: 0; padding: 0; max-width: none; border-top: 1px solid var(--line); }
.findings li { display: grid; grid-template-columns: 8.5rem minmax(0, 42rem); gap: 0.3rem 1.5rem; padding: 1rem 0; border-bottom: 1px solid var(--line); align-items: baseline; }
.findings ul.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; border-top: 0; }
.findings .cards li { display: block; margin: 0; padding: 1rem 1.1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.findings .cards p + p { margin-top: 0.5rem; font-size: 0.94rem; }
.findings .number { text-align: left; }
.findings strong { display: block; font-size: 1.6rem; line-height: 1.15; letter-spacing: -0.015em; color: var(--accent); white-space: nowrap; }
.findings .weak strong { font-size: 1rem; font-weight: 400; letter-spacing: 0; color: var(--quiet); }
.findings span { display: block; margin-top: 0.15rem; color: var(--quiet); font-size: 0.82rem; line-height: 1.3; }
.findings p { margin: 0; }
aside { margin: 2rem 0; padding: 0.7rem 1.1rem; background: var(--wash); border-left: 4px solid var(--warm); border-radius: 0 6px 6px 0; }
code { font: 0.9em/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
.simulated { margin-left: 0.4rem; padding: 0.1rem 0.55rem; border: 1px solid var(--warm); border-radius: 1rem; color: var(--warm); font-weight: 600; white-space: nowrap; }
ul.people { padding-left: 1.2rem; }
details > summary { cursor: pointer; }
.missing { margin: 1rem 0 0; color: var(--quiet); }
.missing ul { margin: 0.3rem 0; padding-left: 1.2rem; }
.halves details { display: inline-block; margin-right: 1.5rem; vertical-align: top; }
.halves details[open] { display: block; }
summary h2 { display: inline; font-size: 1.15rem; }
section.folded { margin-top: 0; border-top: 1px solid var(--line); padding: 0.9rem 0; }
section.folded:last-child { border-bottom: 1px solid var(--line); }
section.folded details[open] > summary { margin-bottom: 1rem; }
section:not(.folded) + section.folded { margin-top: 2rem; }
.findings details, details.notes { margin-top: 0.9rem; color: var(--quiet); }
summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
tr.band th { padding-top: 1.1rem; font-weight: 600; color: var(--quiet); }
.scrolling { overflow-x: auto; }
.scrolling:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
figure { margin: 1.5rem 0 2rem; }
figure .scrolling { border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
figure svg { display: block; margin: 0 auto; }
figure.both svg + svg { display: none; }
figcaption { max-width: 42rem; margin-top: 0.5rem; color: var(--quiet); font-size: 0.925rem; }
table { border-collapse: collapse; margin: 1.1rem 0 0.6rem; font-size: 0.95rem; line-height: 1.35; }
table.measures { min-width: 36rem; width: 100%; }
caption { text-align: left; color: var(--quiet); font-size: 0.9rem; padding-bottom: 0.6rem; }
caption span { position: sticky; left: 0; display: inline-block; max-width: min(42rem, calc(100vw - 2.5rem)); }
th, td { padding: 0.45rem 1.4rem 0.45rem 0; text-align: left; vertical-align: baseline; }
th:last-child, td:last-child { padding-right: 0.4rem; }
thead th { border-bottom: 2px solid var(--ink); font-weight: 600; vertical-align: bottom; }
tbody tr { border-bottom: 1px solid var(--line); }
tbody th { font-weight: 400; min-width: 7rem; }
tr.model th { font-weight: 600; }
tr.oracle { font-style: italic; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
.interval { display: block; color: var(--quiet); font-size: 0.82em; font-weight: 400; }
.best .value { font-weight: 700; }
.none, .quiet { color: var(--quiet); }
ul.paired { margin: 0.3rem 0; padding-left: 1.2rem; font-variant-numeric: tabular-nums; }
ul.paired li { margin: 0.1rem 0; }
ul.notes { margin: 0.9rem 0 0; padding-left: 1.1rem; color: var(--quiet); font-size: 0.9rem; }
.facts { columns: 3 17rem; column-gap: 2.5rem; }
.facts > div { break-inside: avoid; padding-bottom: 1.2rem; }
.facts h3 { margin-top: 0; }
dl { margin: 0; }
.facts dl div { display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: 0.75rem; padding: 0.25rem 0; border-bottom: 1px solid var(--line); font-size: 0.925rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.terms div { padding: 0.5rem 0; }
.terms dt { color: var(--ink); font-weight: 600; }
section li { margin: 0.35rem 0; }
footer { margin-top: 4rem; padding-bottom: 3rem; color: var(--quiet); font-size: 0.9rem; }
@media (max-width: 62rem) {
	figure.both:not(.half) svg { display: none; }
	figure.both:not(.half) svg + svg { display: block; }
}
@media (max-width: 40rem) {
	figure.both svg { display: none; }
	figure.both svg + svg { display: block; }
}
@media (max-width: 36rem) {
	figure.both { margin-left: -1rem; margin-right: -1rem; }
	figure.both .scrolling { border-width: 1px 0; border-radius: 0; }
	figure.both figcaption { padding: 0 1rem; }
	header { padding-top: 2rem; }
	header, main, footer { padding-left: 1rem; padding-right: 1rem; }
	th, td { padding-right: 0.9rem; }
	tbody th { min-width: 7rem; }
	.findings li { grid-template-columns: 1fr; }
	.facts dl div { grid-template-columns: 7rem minmax(0, 1fr); }
}
@media print {
	@page { margin: 16mm 14mm; }
	:root { --ink: #000000; --quiet: #444444; --line: #bbbbbb; --paper: #ffffff; --wash: #ffffff; --accent: #000000; font-size: 10pt; }
	header, main, footer { max-width: none; padding: 0; }
	header { padding-top: 0; }
	.skip { display: none; }
	details::details-content { content-visibility: visible; block-size: auto; }
	a { color: inherit; text-decoration: none; }
	h2, h3, caption { break-after: avoid; }
	figure, tr, .findings li, aside, .facts dl div { break-inside: avoid; }
	.scrolling { overflow: visible; }
	table.measures { min-width: 0; }
	caption span { position: static; max-width: none; }
	figure svg { max-width: 100%; height: auto; max-height: 230mm; }
	figure .scrolling { border: 0; }
}
`;
