import { createContext, type ReactNode, useContext, useId, useRef } from "react";
import { useTransientText } from "./hooks.js";
import { type Caption, csvOf, pngOf, standaloneSvg, take, type Way } from "./picture.js";

export interface PanelProps {
	readonly title: string;
	/** Whether the content is current; or outdated, because an update is running or has failed. */
	readonly state?: "current" | "updating" | "failed";
	readonly subtitle?: ReactNode;
	readonly children: ReactNode;
	/** Content to save as CSV; the panel's drawing is saved as SVG and PNG. */
	readonly rows?: (() => readonly object[]) | undefined;
	readonly drawing?: boolean;
	/** The legend of the saved drawing; on the page it is part of the panel. */
	readonly caption?: () => Caption;
	readonly className?: string;
	/** Next to the title. */
	readonly tools?: ReactNode;
}

const pictures = ["png", "svg"] as const;

/** A section of the page with a heading and a menu to take its content away. */
export function Panel(props: PanelProps) {
	const { title, subtitle, children, rows, drawing, className = "", tools } = props;
	const { caption, state = "current" } = props;
	const id = useId();
	const ref = useRef<HTMLElement>(null);
	const [said, say] = useTransientText();
	const name = title
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, "-")
		.replace(/-$/, "");

	const facts = useContext(PictureContext);
	/** The definition, the legend, and where the numbers come from. */
	const heading = () => ({
		title,
		caption: [
			...(typeof subtitle === "string" ? [{ text: subtitle, paragraph: true }] : []),
			...(caption?.() ?? []),
			{ text: factsText(facts), paragraph: true },
		],
	});

	const give = async (kind: FileKind, way: Way) => {
		if (state === "updating") return say("Wait for the update");
		try {
			const svg = ref.current?.querySelector<SVGSVGElement>("svg[data-drawing]");
			const drawn = () => svg && standaloneSvg(svg, heading());
			const content =
				kind === "csv"
					? new Blob([csvOf(rows?.() ?? [])], { type: "text/csv" })
					: kind === "svg"
						? new Blob([drawn() ?? ""], { type: "image/svg+xml" })
						: await pngOf(drawn() ?? "");
			const done = await take(content, `${name}.${kind}`, way);
			say(done === "copied" ? `${kind.toUpperCase()} copied` : `Saved as ${name}.${kind}`);
		} catch {
			say(`Could not be saved as ${kind.toUpperCase()}; try SVG`);
		}
	};
	return (
		<section
			className={`panel panel-${state} ${className}`}
			aria-labelledby={id}
			aria-busy={state === "updating"}
			ref={ref}
		>
			{state === "updating" && (
				<span className="updating">
					<span className="spinner" aria-hidden="true" /> updating…
				</span>
			)}
			<header className="panel-head">
				<div className="panel-titles">
					<h2 id={id}>{title}</h2>
					{subtitle && <p className="subtitle">{subtitle}</p>}
				</div>
				<div className="panel-tools">
					{tools}
					{(rows || drawing) && (
						<SaveMenu
							title={title}
							kinds={[...(drawing ? pictures : []), ...(rows ? (["csv"] as const) : [])]}
							onSave={give}
						/>
					)}
					<span className={said ? "quiet" : "hidden"} role="status">
						{said}
					</span>
				</div>
			</header>
			<div className="panel-body">{children}</div>
		</section>
	);
}

type FileKind = "png" | "svg" | "csv";

interface SaveMenuProps {
	readonly title: string;
	readonly kinds: readonly FileKind[];
	readonly onSave: (kind: FileKind, way: Way) => void;
}

const ways = [
	["save", "Download"],
	["copy", "Copy"],
] as const;

/** What can be taken away from a panel: as a file, or in the clipboard. */
function SaveMenu({ title, kinds, onSave }: SaveMenuProps) {
	const ref = useRef<HTMLDetailsElement>(null);
	const close = () => {
		if (ref.current) ref.current.open = false;
	};
	return (
		<details
			className="save"
			ref={ref}
			onBlur={(event) => {
				if (!event.currentTarget.contains(event.relatedTarget)) close();
			}}
			onKeyDown={(event) => {
				if (event.key !== "Escape") return;
				close();
				ref.current?.querySelector("summary")?.focus();
			}}
		>
			<summary aria-label={`Save “${title}”`}>Save</summary>
			<div className="save-menu">
				{kinds.flatMap((kind) =>
					ways.map(([way, word]) => (
						<button
							key={`${way} ${kind}`}
							type="button"
							className="small"
							onClick={() => {
								ref.current?.querySelector("summary")?.focus();
								close();
								onSave(kind, way);
							}}
						>
							{word} {kind.toUpperCase()}
						</button>
					)),
				)}
			</div>
		</details>
	);
}

/** What a picture or table needs to be understood elsewhere. */
export interface PictureFacts {
	/** Says that the people, or those of the model, are simulated; null if neither are. */
	readonly population: string | null;
	/** Null where no patient is shown. */
	readonly patient: string | null;
	readonly date: string | null;
	/** Null until it is known. */
	readonly run: string | null;
}

export const noFacts: PictureFacts = { population: null, patient: null, date: null, run: null };

export const PictureContext = createContext(noFacts);

/** What a page says of the model's population. A patient from a file is not one of it. */
export const populationText = (population: string | null, isFromFile: boolean): string | null =>
	population !== null && isFromFile ? "model of a simulated population" : population;

/** `simulated population, not real people · Sample 1, female · predicted on 2006-02-09 · run 1a2b3c4d` */
export const factsText = ({ population, patient, date, run }: PictureFacts): string =>
	[population, patient, date && `predicted on ${date}`, run && `run ${run}`]
		.filter(Boolean)
		.join(" · ");
