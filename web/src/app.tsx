import { lazy, Suspense, useCallback, useEffect, useMemo, useReducer, useState } from "react";
import { fromTokens, type Token, type Vocabulary } from "../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../src/evaluate/charts/clock.js";
import type { RunningExport } from "../../src/predict/browser/open-export.js";
import type { ExportManifest } from "../../src/predict/export/manifest.js";
import type { About, Rates, Samples, Usual } from "./data/contract.js";
import { initialDate, type Patient, patientOf } from "./data/patient.js";
import { type Loaded, loadedValue, useJson, useLoaded } from "./data/use-loaded.js";
import { openModel, startedOrNew } from "./engine/start-model.js";
import { ErrorBoundary } from "./error-boundary.js";
import type { PatientList } from "./files/patient-list.js";
import { fileRules } from "./files/records.js";
import { lostFile, noteFile, useDroppedFile, useOpenedFile } from "./files/use-opened-file.js";
import { Button } from "./parts/button.js";
import { useTransientText } from "./parts/hooks.js";
import { Notice } from "./parts/notice.js";
import { noFacts, PictureContext, type PictureFacts, populationText } from "./parts/panel.js";
import { momentText } from "./parts/words.js";
import { useAddress } from "./state/address.js";
import { initialState, reduceState, type View, views } from "./state/reducer.js";
import { copiedLink, followLink, linkTo, readLink } from "./state/view-link.js";
import { PatientChooser } from "./views/patient-chooser.js";
import { Workbench } from "./views/workbench.js";

/** Loaded when it is opened, for it brings the figures of the report. */
const ModelView = lazy(async () => ({
	default: (await import("./views/model-view.js")).ModelView,
}));

const viewNames: Readonly<Record<View, string>> = {
	patient: "Patient",
	model: "Model",
};

/** The page. It fetches documents from its server and computes everything else itself. */
export function App() {
	const [now, dispatch] = useReducer(reduceState, initialState, (start) => ({
		...start,
		view: readLink(location.hash).view,
	}));
	const manifest = useJson<ExportManifest>("model/export.json");
	const tokens = useJson<{ readonly tokens: readonly Token[] }>("model/vocabulary.json");
	const samples = useJson<Samples>("explorer/samples.json");
	const about = useJson<About>("explorer/about.json");
	const rates = useJson<Rates>("explorer/rates.json");
	const [modelState, retry] = useModel();

	const vocabularyLoaded = useMemo(
		(): Loaded<Vocabulary> =>
			tokens.state === "ready"
				? { state: "ready", value: fromTokens(tokens.value.tokens) }
				: tokens,
		[tokens],
	);
	const vocabulary = loadedValue(vocabularyLoaded);
	const patients = useMemo(() => (loadedValue(samples)?.patients ?? []).map(patientOf), [samples]);
	const records = loadedValue(manifest)?.records ?? null;
	const clock: Clock | null = useMemo(
		() =>
			records && {
				axis: now.patient?.axis ?? records.axis,
				birth: now.patient?.birth ?? null,
			},
		[records, now.patient],
	);
	const usual = useJson<Usual>("explorer/usual.json");
	const choose = (patient: Patient, opened?: PatientList) =>
		dispatch({
			type: "patient",
			patient,
			date: initialDate(patient),
			...(opened && { opened }),
		});
	const rules = useMemo(() => fileRules(about, vocabularyLoaded), [about, vocabularyLoaded]);
	const [lost, setLost] = useState(() => lostFile());
	const [file, files] = useOpenedFile(rules, (list) => {
		setLost(null);
		choose(list.at((now.patient && list.placeOf(now.patient)) ?? 0), list);
	});
	const openName = now.patient?.sample === null ? (now.opened?.file ?? null) : null;
	useEffect(() => noteFile(openName ?? lost), [openName, lost]);

	// Follow the link in the address once its names can be resolved; from then on, the address follows the state.
	const isKnown = vocabulary !== null && records !== null && samples.state !== "loading";
	const follow = useMemo(
		() =>
			isKnown ? () => dispatch(followLink(readLink(location.hash), patients, vocabulary)) : null,
		[isKnown, vocabulary, records, patients],
	);
	const hash = isKnown ? linkTo(now, (token) => vocabulary.tokens[token]?.code) : null;
	const onView = useCallback((view: View) => dispatch({ type: "view", view }), []);
	useAddress(now.view, hash, onView, follow);
	const showsPatient = now.view === "patient";
	// Messages about a file are shown in the patient view.
	const takeFile = useCallback(
		(dropped: readonly File[]) => {
			if (!showsPatient) onView("patient");
			files.open(dropped);
		},
		[showsPatient, onView, files.open],
	);
	useDroppedFile(takeFile);

	const population = populationText(
		loadedValue(manifest)?.population ?? null,
		showsPatient && now.patient?.sample === null,
	);
	const facts = useMemo((): PictureFacts => {
		if (manifest.state !== "ready") return noFacts;
		const isShown = showsPatient && now.patient && clock;
		return {
			population,
			patient: isShown ? [now.patient.name, now.patient.sex].filter(Boolean).join(", ") : null,
			date: isShown ? momentText(clock, now.date) : null,
			run: manifest.value.sha256?.slice(0, 8) ?? null,
		};
	}, [manifest, population, showsPatient, now.patient, now.date, clock]);

	const failed = [manifest, tokens, samples].find(({ state }) => state === "error");
	return (
		<PictureContext value={facts}>
			<a className="skip" href="#main">
				Skip to the content
			</a>
			<header className="top">
				<div className="brand">
					<img src="./icon.svg" alt="" width={28} height={28} />
					<h1>
						trajgpt <span>explorer</span>
					</h1>
				</div>
				<nav aria-label="Views">
					{views.map((view) => (
						<a
							key={view}
							href={`#${view}`}
							{...(view === now.view && { "aria-current": "page" as const })}
							onClick={(event) => {
								event.preventDefault();
								onView(view);
							}}
						>
							{viewNames[view]}
						</a>
					))}
				</nav>
				<div className="top-tools">
					{population && <span className="population">{population}</span>}
					<CopyLink linkFrom={(shown) => copiedLink(shown, hash, now.patient)} />
				</div>
			</header>
			<main id="main" tabIndex={-1}>
				<ErrorBoundary of={now.view}>
					{showsPatient &&
						(failed?.state === "error" ? (
							<Notice kind="error" title="The explorer could not be loaded">
								<p>{failed.message}</p>
							</Notice>
						) : !vocabulary || !clock || samples.state === "loading" ? (
							<Notice kind="loading" title="Loading…" />
						) : (
							<>
								<PatientChooser
									explorer={now}
									samples={patients}
									clock={clock}
									file={file}
									files={files}
									rules={rules}
									usual={loadedValue(usual)?.usual ?? null}
									vocabulary={vocabulary}
									lost={lost}
									onPatient={(patient) => {
										files.leave();
										choose(patient);
									}}
									onForget={() => setLost(null)}
								/>
								{now.patient ? (
									<Workbench
										key={now.turn}
										patient={now.patient}
										explorer={now}
										dispatch={dispatch}
										vocabulary={vocabulary}
										clock={clock}
										modelState={modelState}
										reach={loadedValue(about)?.dataset.reach ?? null}
										rates={loadedValue(rates)?.rates ?? null}
										onRetry={retry}
									/>
								) : (
									<Notice kind="empty" title="No patient chosen">
										<p>
											This server has no sample patients. Open or drop a file of records above: a
											CSV table with the columns patient, time and code, or a FHIR R4 bundle.
										</p>
									</Notice>
								)}
							</>
						))}
					{now.view === "model" && (
						<Suspense fallback={<Notice kind="loading" title="Loading…" />}>
							<ModelView about={about} runtime={loadedValue(modelState)?.opened.runtime ?? null} />
						</Suspense>
					)}
				</ErrorBoundary>
			</main>
			<footer>
				<p>
					Not a medical device, and not for decisions about anyone’s care. Everything is computed in
					this page; files you open stay in this page.
				</p>
			</footer>
		</PictureContext>
	);
}

const close = (model: RunningExport) => void model.close();

/** Loads the server's model into a worker of this page. */
function useModel(): readonly [Loaded<RunningExport>, retry: () => void] {
	const [load, setLoad] = useState(() => startedOrNew);
	return [useLoaded(load, close), useCallback(() => setLoad(() => openModel), [])];
}

/**
 * Copies a link to the current view; it never holds a patient's records. `linkFrom` gives it, and a confirmation, for
 * the address bar's URL, which lags behind.
 */
function CopyLink({
	linkFrom,
}: {
	readonly linkFrom: (shown: string) => ReturnType<typeof copiedLink>;
}) {
	const [said, say] = useTransientText();
	return (
		<Button
			className="small"
			title="The link holds the view, the date and the codes; of a sample also the edits, of a file nothing"
			onClick={async () => {
				try {
					const { link, words } = linkFrom(location.href);
					await navigator.clipboard.writeText(link);
					say(words);
				} catch {
					say("Copy it from the address bar");
				}
			}}
		>
			<span role="status">{said || "Copy link"}</span>
		</Button>
	);
}
